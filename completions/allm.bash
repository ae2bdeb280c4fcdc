# allm.bash - completion of allm for bash

# Models of the catalog, and every provider with its colon.
_allm_models()
{
    allm models 2>/dev/null | sed -n 's/^\([a-z0-9_]*:[^ ]*\).*/\1/p'
    _allm_providers | sed 's/$/:/'
}

_allm_providers()
{
    allm models --providers 2>/dev/null | sed 's/ .*//'
}

# _allm_reply WORDS: complete the word under the cursor with these.  bash splits
# words at ":" and "=", so it replaces only the part after the last of them.
_allm_reply()
{
    local from=${cur%"${cur##*[:=]}"} i
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
    [[ $COMP_WORDBREAKS == *:* ]] || from=
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$from"}
    done
    [[ ${COMPREPLY[0]} != *: ]] || compopt -o nospace 2>/dev/null
}

_allm()
{
    local line=${COMP_LINE:0:COMP_POINT}
    local -a words
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    local at=$((${#words[@]} - 1))
    local cur=${words[at]} prev=${words[at - 1]}
    local commands="ask chat models keys doctor demo replay decode encode version help"
    local flags="--help"
    if [[ $cur == --*=* ]]; then
        prev=${cur%%=*}
        cur=${cur#*=}
    fi
    case $prev in
    -a|--attach|-S|--session|--schema)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return ;;
    -m|--model)
        _allm_reply "$(_allm_models)"
        return ;;
    --provider)
        _allm_reply "$(_allm_providers)"
        return ;;
    --can)
        _allm_reply "tools vision reasoning json_native pdf audio web_search caching
            chat embedding image moderation"
        return ;;
    -s|--system|-o|--option|--max-turns|--timeout)
        return ;;
    esac
    case ${words[1]} in
    chat)   flags="$flags --model --system --session --ask --option" ;;
    models) flags="$flags --provider --can --model --providers --json" ;;
    keys)   flags="$flags --json" ;;
    replay) flags="$flags --model --system --option --events --timed" ;;
    decode) flags="$flags --raw --option" ;;
    encode) flags="$flags --compact --option" ;;
    doctor|demo|version) ;;
    help)
        _allm_reply "$commands"
        return ;;
    *)  flags="$flags --model --system --session --attach --schema --option
            --json --events --no-stream --usage --ask --max-turns --timeout --dry-run
            --quiet --verbose" ;;
    esac
    if [[ $cur == -* ]]; then
        _allm_reply "$flags"
    elif [[ $at -eq 1 ]]; then
        _allm_reply "$commands"
    elif [[ ${words[1]} == encode && $at -eq 2 ]]; then
        _allm_reply "$(_allm_models)"
    elif [[ ${words[1]} == decode && $at -eq 2 ]]; then
        _allm_reply "$(allm models --providers 2>/dev/null | tr -s ' ' | cut -d ' ' -f 2 | sort -u)"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _allm allm
