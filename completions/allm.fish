# allm.fish - completion of allm for fish

# Models of the catalog, and every provider with its colon.
function __allm_models
    allm models 2>/dev/null | string match -r '^[a-z0-9_]+:\S+'
    __allm_providers | string replace -r '$' ':'
end

function __allm_providers
    allm models --providers 2>/dev/null | string replace -r ' .*' ''
end

set -l commands ask chat models keys doctor demo replay decode encode version help
set -l first "not __fish_seen_subcommand_from $commands"
set -l asking "not __fish_seen_subcommand_from chat models keys doctor demo replay decode encode version help"

complete -c allm -n $first -f -a ask -d 'ask a model'
complete -c allm -n $first -f -a chat -d 'talk to a model, line by line'
complete -c allm -n $first -f -a models -d 'list models or providers'
complete -c allm -n $first -f -a keys -d 'show where each key comes from'
complete -c allm -n $first -f -a doctor -d 'check keys, local servers and the environment'
complete -c allm -n $first -f -a demo -d 'see an agent at work'
complete -c allm -n $first -f -a replay -d 'play a recording'
complete -c allm -n $first -f -a decode -d 'turn an answer into events'
complete -c allm -n $first -f -a encode -d 'show the HTTP request'
complete -c allm -n $first -f -a version -d 'print the version'
complete -c allm -n $first -f -a help -d 'explain a command'

complete -c allm -s h -l help -d 'explain'
complete -c allm -n $asking -s m -l model -x -a '(__allm_models)' -d 'provider:model to ask'
complete -c allm -n $asking -s s -l system -x -d 'the system prompt'
complete -c allm -n $asking -s S -l session -r -d 'continue a conversation'
complete -c allm -n $asking -s a -l attach -r -d 'a text file or an image'
complete -c allm -n $asking -l schema -r -d 'the answer must fit this JSON Schema'
complete -c allm -n $asking -s o -l option -x -d 'an option of the provider'
complete -c allm -n $asking -l json -d 'print one JSON document'
complete -c allm -n $asking -l events -d 'print events'
complete -c allm -n $asking -l no-stream -d 'print the answer when it is complete'
complete -c allm -n $asking -s u -l usage -d 'print tokens and cost'
complete -c allm -n $asking -l ask -d 'the model may ask a question'
complete -c allm -n $asking -l max-turns -x -d 'stop after N answers'
complete -c allm -n $asking -l timeout -x -d 'stop after this time'
complete -c allm -n $asking -l dry-run -d 'show the request, send nothing'
complete -c allm -n $asking -s q -l quiet -d 'no notes on stderr'
complete -c allm -n $asking -s v -l verbose -d 'print what happens'

complete -c allm -n '__fish_seen_subcommand_from chat replay' -s m -l model -x -a '(__allm_models)'
complete -c allm -n '__fish_seen_subcommand_from encode' -a '(__allm_models)'
complete -c allm -n '__fish_seen_subcommand_from chat replay' -s s -l system -x
complete -c allm -n '__fish_seen_subcommand_from chat' -s S -l session -r
complete -c allm -n '__fish_seen_subcommand_from chat' -l ask
complete -c allm -n '__fish_seen_subcommand_from chat replay decode encode' -s o -l option -x
complete -c allm -n '__fish_seen_subcommand_from models keys' -l json
complete -c allm -n '__fish_seen_subcommand_from models' -l providers
complete -c allm -n '__fish_seen_subcommand_from models' -l provider -x -a '(__allm_providers)'
complete -c allm -n '__fish_seen_subcommand_from models' -l can -x -a 'tools vision reasoning json_native pdf audio web_search caching chat embedding image moderation'
complete -c allm -n '__fish_seen_subcommand_from models' -s m -l model -x -a '(__allm_models)'
complete -c allm -n '__fish_seen_subcommand_from replay' -l events
complete -c allm -n '__fish_seen_subcommand_from replay' -l timed
complete -c allm -n '__fish_seen_subcommand_from decode' -l raw
complete -c allm -n '__fish_seen_subcommand_from encode' -l compact
