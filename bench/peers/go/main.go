// The client of openai-go; see client.h.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

const history = 1000

var client openai.Client
var ctx = context.Background()

func cpu() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return (u.Utime.Sec+u.Stime.Sec)*1000000 + u.Utime.Usec + u.Stime.Usec
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

func prose() string {
	text := "The gardener said: plant them in autumn, before the first " +
		"frost, as deep as a hand. "
	return strings.Repeat(text, 6)[:400]
}

type messages = []openai.ChatCompletionMessageParamUnion

func hi() messages { return messages{openai.UserMessage("hi")} }

func open(m messages, tools []openai.ChatCompletionToolUnionParam) *ssestream.Stream[openai.ChatCompletionChunk] {
	return client.Chat.Completions.NewStreaming(ctx,
		openai.ChatCompletionNewParams{Model: "m", Messages: m, Tools: tools})
}

func deltas(chunk *openai.ChatCompletionChunk) int {
	n := 0
	for _, choice := range chunk.Choices {
		if choice.Delta.Content != "" {
			n++
		}
		for _, call := range choice.Delta.ToolCalls {
			if call.Function.Arguments != "" {
				n++
			}
		}
	}
	return n
}

// readAll collects the answer, as the examples of the library do.
func readAll(m messages, tools []openai.ChatCompletionToolUnionParam) (int, openai.ChatCompletionAccumulator) {
	n := 0
	stream := open(m, tools)
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		chunk := stream.Current()
		acc.AddChunk(chunk)
		n += deltas(&chunk)
	}
	check(stream.Err())
	return n, acc
}

func runPlain(n int) int {
	events := 0
	for i := 0; i < n; i++ {
		k, _ := readAll(hi(), nil)
		events += k
	}
	return events
}

func runHistory(n int) int {
	text, events := prose(), 0
	var m messages
	for i := 0; i < history-1; i++ {
		if i%2 == 1 {
			m = append(m, openai.AssistantMessage(text))
		} else {
			m = append(m, openai.UserMessage(text))
		}
	}
	for i := 0; i < n; i++ {
		m = append(m, openai.UserMessage(text))
		k, _ := readAll(m, nil)
		events += k
	}
	return events
}

func runTools(n int) int {
	events := 0
	tools := []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:        "note",
			Description: openai.String("keeps a note"),
			Parameters: openai.FunctionParameters{"type": "object",
				"properties": map[string]any{"text": map[string]string{"type": "string"}}},
		}),
	}
	for i := 0; i < n; i++ {
		m := hi()
		for {
			k, acc := readAll(m, tools)
			events += k
			message := acc.Choices[0].Message
			if len(message.ToolCalls) == 0 {
				break
			}
			m = append(m, message.ToParam())
			for _, call := range message.ToolCalls {
				var args map[string]any
				check(json.Unmarshal([]byte(call.Function.Arguments), &args))
				m = append(m, openai.ToolMessage("fine", call.ID))
			}
		}
	}
	return events
}

func runPaced(n int) int {
	var wait sync.WaitGroup
	counts := make([]int, n)
	for i := range counts {
		wait.Add(1)
		go func() {
			defer wait.Done()
			counts[i], _ = readAll(hi(), nil)
		}()
	}
	wait.Wait()
	events := 0
	for _, k := range counts {
		events += k
	}
	return events
}

func meet(line string) {
	fmt.Println(line)
	bufio.NewReader(os.Stdin).ReadString('\n')
}

func runHold(n int) {
	all := make([]*ssestream.Stream[openai.ChatCompletionChunk], n+1)
	for i := range all {
		if i == 1 {
			meet("base")
		}
		all[i] = open(hi(), nil)
		if !all[i].Next() {
			check(all[i].Err())
		}
	}
	meet("held")
	os.Exit(0)
}

func runStart() {
	stream := open(hi(), nil)
	for stream.Next() {
		chunk := stream.Current()
		if deltas(&chunk) > 0 {
			fmt.Println("first")
		}
	}
	check(stream.Err())
}

func main() {
	n, _ := strconv.Atoi(os.Args[3])
	client = openai.NewClient(option.WithAPIKey("k"),
		option.WithBaseURL(os.Args[2]+"/v1/"))
	run := map[string]func(int) int{"one": runPlain, "many": runPlain,
		"args": runPlain, "history": runHistory, "tools": runTools,
		"paced": runPaced}[os.Args[1]]
	switch os.Args[1] {
	case "hold":
		runHold(n)
	case "start":
		runStart()
	default:
		run(max(1, n/5))
		began := cpu()
		events := run(n)
		fmt.Printf("{\"events\": %d, \"cpu_us\": %d}\n", events, cpu()-began)
	}
}
