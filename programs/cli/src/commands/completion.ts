import { Argument, type Command } from 'commander'
import type { Io } from '../context.ts'

/** Adds `completion`. It prints a script with which a shell completes the words of all other commands. */
export function addCompletion(program: Command, { stdout }: Io): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => void stdout.write(scripts[shell](wordsOf(program, ''))))
}

type Words = Array<{ path: string; words: string[] }>

// Options that follow every command.
const everywhere = '--'

/** Returns the words that may follow each command, and each option with a choice. */
function wordsOf(command: Command, path: string): Words {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const options = help.visibleOptions(command)
  const names = options.flatMap(({ long }) => long ?? [])
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const words = [...commands.map(one => one.name()), ...choices, ...(command.parent ? names : [])]
  return [
    { path, words },
    ...(command.parent ? [] : [{ path: everywhere, words: names }]),
    ...options.flatMap(({ long, argChoices }) => (argChoices ? [{ path: `${path} ${long}`, words: argChoices }] : [])),
    ...commands.flatMap(one => [one.name(), ...one.aliases()].flatMap(name => wordsOf(one, `${path} ${name}`))),
  ].filter(one => one.words.length > 0)
}

// A word leads to the next command if that command has further words. Where no word fits, the shell completes files.
function bash(words: Words): string {
  const cases = words.map(one => `    '${one.path}') echo '${one.words.join(' ')}' ;;`).join('\n')
  return `_belfry_words() {
  case "$1" in
${cases}
  esac
}
_belfry() {
  local command='' word words
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    [ -n "$(_belfry_words "$command $word")" ] && case "$word" in -*) ;; *) command="$command $word" ;; esac
  done
  words=$(_belfry_words "$command \${COMP_WORDS[COMP_CWORD - 1]}")
  COMPREPLY=($(compgen -W "\${words:-$(_belfry_words "$command") $(_belfry_words ${everywhere})}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _belfry belfry
`
}

function fish(words: Words): string {
  const cases = words.map(one => `    case '${one.path}'\n      printf '%s\\n' ${one.words.join(' ')}`).join('\n')
  return `function __belfry_words
  switch "$argv[1]"
${cases}
  end
end
function __belfry
  set -l command ''
  set -l line (commandline -opc)
  for word in $line[2..]
    string match -q -- '-*' $word; or test -z "$(__belfry_words "$command $word")"; or set command "$command $word"
  end
  set -l words (__belfry_words "$command $line[-1]")
  test -n "$words"; or set words (__belfry_words $command) (__belfry_words ${everywhere})
  string match -- (commandline -ct)'*' $words; or __fish_complete_path (commandline -ct)
end
complete -c belfry -f -a '(__belfry)'
`
}

const scripts = { bash, zsh: (words: Words) => `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`, fish }
