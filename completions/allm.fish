# allm.fish - completion of allm for fish; allm itself knows the words

function __allm_complete
    set -l words (commandline -opc)
    set -l part (commandline -ct)
    set -l found ($words[1] _complete $words[2..-1] "$part" 2>/dev/null)
    set -l front (string match -r -- '^--[^=]*=' $part)
    set -l path (string replace -r -- '^--[^=]*=' '' $part)
    switch "$found[1]"
        case :file
            set found (__fish_complete_path $path)
            printf '%s\n' $front$found
        case :directory
            set found (__fish_complete_directories $path)
            printf '%s\n' $front$found
        case '*'
            printf '%s\n' $found
    end
end
complete -c allm -f -a '(__allm_complete)'
