# allm.bash - completion of allm for bash; allm itself knows the words

_allm()
{
    local line=${COMP_LINE:0:COMP_POINT} from
    local -a words
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    mapfile -t COMPREPLY < <("$1" _complete "${words[@]:1}" 2>/dev/null)
    case ${COMPREPLY[0]} in
    :file) compopt -o default; COMPREPLY=(); return ;;
    :directory) compopt -o dirnames; COMPREPLY=(); return ;;
    esac
    # bash splits words at ":" and "=", so it replaces only the part after the
    # last of them.
    from=${words[-1]%"${words[-1]##*[:=]}"}
    [[ $COMP_WORDBREAKS == *:* ]] || from=
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    COMPREPLY=("${COMPREPLY[@]#"$from"}")
    [[ ${COMPREPLY[0]} != *: ]] || compopt -o nospace 2>/dev/null
}
complete -F _allm allm
