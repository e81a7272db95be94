/** A line that each shell's script calls: `prloom complete -- <words>` prints a word and what it is, one per line. */
const BASH = `# prloom completion for bash
_prloom() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(prloom complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _prloom prloom
`;

const ZSH = `#compdef prloom
# prloom completion for zsh
_prloom() {
  # The command as it is typed, or what an alias of yours stands for: no alias is known in here.
  local line command=\${~\${(Q)words[1]}}
  local -a found
  for line in "\${(@f)$("$command" complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe prloom found; else _files; fi
}
if [[ "\${funcstack[1]}" = _prloom ]]; then _prloom "$@"; else compdef _prloom prloom; fi
`;

const FISH = `# prloom completion for fish
function __prloom_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (prloom complete -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c prloom -f -a '(__prloom_complete)'
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
export type CompletionShell = keyof typeof SCRIPTS;
