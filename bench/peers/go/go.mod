// The client in Go, with the version that is measured.
module peers

go 1.26.0

require github.com/openai/openai-go/v3 v3.91.0
