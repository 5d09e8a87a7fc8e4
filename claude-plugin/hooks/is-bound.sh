# Whether this session is bound: its repository has a contract. Without a known folder it is.
is_bound() {
  folder=$CLAUDE_PROJECT_DIR
  case $folder in /*) ;; *) return 0 ;; esac
  while :; do
    [ -e "$folder/agent_workflow.yaml" ] || [ -e "$folder/agent_workflow" ] && return 0
    # The root of the repository: a contract above it is another one's.
    [ -e "$folder/.git" ] || [ "$folder" = / ] && return 1
    folder=$(dirname "$folder")
  done
}
