/* completion.c - allm completion: print the script that completes words */
#include "cli/command.h"
#include "cli/completion_scripts.h"
#include "cli/exit.h"
#include "cli/print.h"

#include <string.h>

static const struct {
    const char *shell, *script;
} scripts[] = {
    { "bash", completion_bash },
    { "zsh", completion_zsh },
    { "fish", completion_fish },
};

static int run_completion_command(int argc, char **argv)
{
    if (!flags_read(NULL, NULL, &argc, argv))
        return END_USAGE;
    for (size_t i = 0; argc == 1 && i < sizeof scripts / sizeof *scripts; i++)
        if (!strcmp(argv[0], scripts[i].shell)) {
            print_text(scripts[i].script);
            return END_DONE;
        }
    return command_reject_sub(command_find("completion"),
                              argc ? argv[argc - 1] : NULL);
}

const struct command completion_command = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .summary = "print the script that completes words in a shell",
    .more =
        "bash: source <(allm completion bash), for instance in ~/.bashrc.\n"
        "zsh:  allm completion zsh >~/.zfunc/_allm, a folder in $fpath.\n"
        "fish: allm completion fish >~/.config/fish/completions/allm.fish\n",
    .examples = "source <(allm completion bash)\n",
    .subs = "bash|zsh|fish",
    .group = GROUP_SETUP,
    .run = run_completion_command,
};
