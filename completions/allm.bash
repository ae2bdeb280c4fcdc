# allm.bash - completion of allm for bash
_allm()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="ask chat models keys doctor demo replay decode encode version help"
    local flags="--help"
    case $prev in
    -a|--attach|-S|--session|--schema)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return ;;
    -m|--model)
        mapfile -t COMPREPLY < <(compgen -W "$(allm models 2>/dev/null | cut -d ' ' -f 1)" -- "$cur")
        return ;;
    esac
    case ${COMP_WORDS[1]} in
    chat)   flags="$flags --model --system --session --ask --option" ;;
    models) flags="$flags --providers --json" ;;
    keys)   flags="$flags --json" ;;
    replay) flags="$flags --model --system --option --events --timed" ;;
    decode) flags="$flags --raw --option" ;;
    encode) flags="$flags --compact --option" ;;
    doctor|demo|version) ;;
    help)
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
        return ;;
    *)  flags="$flags --model --system --session --attach --schema --option
            --json --events --no-stream --usage --ask --max-turns --timeout --dry-run
            --quiet --verbose" ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
    elif [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
    elif [[ ${COMP_WORDS[1]} == decode && $COMP_CWORD -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(allm models --providers 2>/dev/null | tr -s ' ' | cut -d ' ' -f 2 | sort -u)" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _allm allm
