import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * Which suite runs a test file. `docs/internals/testing.md` explains the suites and lists how long each takes.
 *
 * A test is a unit test when nothing that it imports, directly or through other files, starts a process, a thread or a
 * server, or reads the built program. That is read from the imports, so that there is no list to keep up to date.
 */

const TEST = import.meta.dirname
const ROOT = dirname(TEST)

/** Test files that only `npm run test:full` runs, with the reason. Paths are below `test/`, without `.test.ts`. */
export const FULL_ONLY: Readonly<Record<string, string>> = {
  'store/rotate-keys':
    'keys of the ledger that are replaced, and attacks with the old ones; store/tamper covers the chain',
  'store/archive': 'old tasks archived to signed files; store/erase covers tombstones',
  'http/other-hooks': 'hooks of the other agent CLIs over HTTP; hooks/dialects covers their formats',
  'cli/hook': 'phaselock hook with a server and without one; hooks/dialects covers the formats',
  'connect/connect': 'connect and disconnect as programs; connect/edit covers what is written',
  'worktrees/cli': 'work trees of tasks on the command line; worktrees/path-leases covers the rules',
  'http/phases-leak': 'documents of later phases by every call; http/phases covers the rules',
  'http/rewind-tree': 'work trees that a rewind restores; http/reconcile covers the comparison',
  'cli/fresh': 'what a newcomer types first; cli/local covers the commands',
  'e2e/way-back': 'the way back to the tests, through all phases; e2e/walks covers the way on',
  'http/task-diff': 'diffs of tasks in every state of the tree; app/file-diff covers how they are made',
  'http/integrity': 'ledgers that were changed while a server runs; store/tamper covers the chain',
  'http/reopened-sandbox':
    'a sandbox whose process is killed under a server; confinement/called-off covers the reopening',
  'http/services': 'services of the machine that tests reach; contract/services covers what may be named',
  'http/unreadable-runs': 'runs without readable results through a server; checks/reports/run-causes covers the causes',
  'http/task-bytes': 'bytes that tasks write, counted through a server; http/tools covers the tools',
  'http/own-mcp-tools': 'hooks that meet the tools of Phaselock itself; http/hooks covers the decisions',
  'mcp/claude-code-hooks': 'hooks and MCP of Claude Code together; http/hooks covers the decisions',
  'mcp/garbage': 'malformed messages over MCP; garbage/wire covers malformed requests',
  'doors/model-relay': 'the relay to models in every state; doors/metered-relay covers what is counted',
  'attack/coordination-consensus': 'attacks on votes; http/consensus covers the rules',
  'attack/held-out': 'attacks on held-out examples, MCP, five failures and kill -9; http/examples covers the main path',
  'attack/spawn-agents': 'attacks by started agents; spawn/spawn and doors/agent-socket cover the main path',
  'attack/tamper': 'tampers with the ledger of a running server; store/tamper covers what verification finds',
  'checks/guards-libraries': 'installs assertion and mocking libraries to run them under the guards',
  'checks/guards-node': 'every trick against the guards in Node.js; lying/green tries the main ones through a server',
  'checks/guards-python': 'every trick against the guards in Python; lying/python tries the main ones through a server',
  'checks/large-reports': 'reports of ten megabytes; checks/reports/properties covers how reports are read',
  'checks/mocking-libraries':
    'installs libraries that patch clocks and I/O; lying/green covers the guards through a server',
  'cli/accept-tools': 'changed upstream tools accepted on the command line; http/upstream covers the rules',
  'cli/analyze': 'tables, graphs and totals of analyze; http/metrics covers the numbers',
  'cli/backup': 'backups under load with kill -9; store/backup covers what is refused',
  'cli/by-hand': 'every workflow command typed by hand; docs/tour runs the main ones',
  'cli/client': 'faults of every client command; cli/serve and cli/local cover the main ones',
  'cli/coordinate': 'councils through the CLI; coordination and http/coordinations cover the rules',
  'cli/coordinate-token': 'tokens of council members on the command line; http/coordinations covers the rules',
  'cli/documents': 'contracts in folders of documents on the command line; contract/documents covers how they are read',
  'cli/init-bad-input': 'init and doctor in repositories with something wrong; cli/survey covers what they find',
  'cli/init-sigusr1':
    'init where tests send SIGUSR1, with and without a terminal; cli/trial-output covers what is read',
  'cli/init-trial': 'init with runners of several kinds; e2e/init-walk covers the trial of npm test',
  'cli/knowledge-install': 'installs the embedding model; http/knowledge covers how it is used',
  'cli/lasting': 'CLI commands that outlive restarts of the server',
  'cli/next-steps': 'what every command says next; docs/tour and cli/local run the main ones',
  'cli/odd-places': 'commands in odd places; cli/serve and cli/local cover the main ones',
  'cli/operator-login':
    'logging in, sessions and passphrases on the command line; operators/sessions and operators/confirmations cover the rules',
  'cli/questions': 'questions answered on the command line; http/questions covers the rules',
  'cli/reviews': 'reviews on the command line; http/reviews covers the rules',
  'cli/seed-003': 'the cases of seed 003 through the CLI; http/seed-003 covers them over REST',
  'cli/spawn': 'agents started, watched and stopped on the command line; spawn/spawn covers the same over REST',
  'cli/state-directory':
    'servers that pretend to be ours, and rights of others on keys; cli/serve and store/lock cover the main path',
  'cli/trust-bases': 'a changed base of a contract over five starts; cli/trust covers changed contracts',
  'cli/watch': 'what watch prints of a live server; http/operating covers the events',
  'cli/workflow': 'every command of a run; docs/tour runs the main ones, http/rules covers the rules',
  'confinement/crate-cache': 'compiles a crate from the registry; checks/declared-tests covers how its tests are read',
  'confinement/go-build-cache':
    'compiles the standard library of Go; checks/declared-tests covers how its tests are read',
  'confinement/observed':
    'signals, memory and surroundings of observed runs with every provider; checks/second-report covers the main path',
  'confinement/package-managers':
    'package managers without network in the sandbox; core/package-managers covers how it is recognised',
  'confinement/resources': 'fork bombs, endless output and other exhaustion with every provider',
  'confinement/home-cache':
    'the cache folder of commands with every provider; confinement/scratch covers how layers are kept',
  'confinement/scratch-kill': 'kills a server while it writes the scratch layer; e2e/kill covers recovery in general',
  'confinement/sockets': 'sockets into the sandbox with every provider; doors/agent-socket covers the main path',
  'confinement/toolchains': 'compiles with Go and cargo in the sandbox; confinement/credentials covers what is hidden',
  'connect/canary': 'four real agent CLIs, each started several times; connect/edit covers what is written',
  'connect/claude': 'a real Claude Code in tmux; connect/edit and connect/socket cover what is behind it',
  'connect/codex': 'a real Codex in tmux; connect/edit and connect/socket cover what is behind it',
  'connect/plugin': 'a real Claude Code with the plugin in tmux; connect/plugin-parts covers its hooks',
  'connect/session': 'servers, MCP servers and hooks as processes; connect/edit and http/hook-liveness cover the rules',
  'sdk/guide': 'the steps of the guide for agents, with both SDKs; sdk/typescript and sdk/python cover the clients',
  'mcp/claude-code': 'the steps of Claude Code over MCP; mcp/walk covers the tools, http/hooks the decisions',
  'tools/upstream/http':
    'faults of upstream MCP servers over HTTP; tools/upstream/answers and http/upstream cover the main ones',
  'container/refused': 'what up --container refuses before it starts; cli/local covers up and down',
  'docs/operate': 'the commands of the page about operating; docs/runnable runs the blocks of other pages',
  'mcp/stdio': 'MCP through the program phaselock mcp; mcp/walk covers the tools',
  'rules-coverage':
    'the tests of the rules again, counting what they reach; core/rules/chain and core/rules/reference cover the rules',
  'store/durable': 'kill -9 and full disks below the ledger; torture/kill covers kill -9 under load',
  'doors/killed': 'sockets of agents after a killed server; spawn/killed covers the agents',
  'participants/command-claude-code':
    'Claude Code as a participant of councils; participants/command-participant covers the commands',
  'http/seed-003-criteria': 'criteria of the tasks of seed 003; http/seed-003 covers the tasks',
  'http/coordination-hostile':
    'hostile participants of councils; coordination/reasons and attack/coordination-waits cover the main ones',
  'cli/prepare': 'what a start installs and builds again; cli/bundle covers the build, cli/serve npm start',
  'http/checking': 'every view while a gate is checked; http/long-gates covers the answers',
  'attack/rules': 'attacks on rules against loops; http/rules covers the rules',
  'http/agent-cli-files': 'files that agent CLIs leave in the tree; http/git-commit covers what is committed',
  'e2e/workflows': 'every shipped workflow to its end; e2e/walks covers the five phases, docs/workflows the files',
  'coordination/operate': 'councils stopped and continued by operators; http/coordinations covers the calls',
  'coordination/attempts':
    'answers of participants that are refused and tried again; coordination/reasons covers the main ones',
  'coordination/random': 'councils with random answers; core/rounds/properties covers the rules',
  'http/phases-races': 'documents of phases in races; http/phases and http/races cover the rules',
  'http/start-workflow': 'workflows that agents start themselves; http/walk covers the phases',
  'cli/report-html': 'reports in a browser; http/report covers what they hold',
  'mcp/participant': 'participants of councils over MCP; mcp/walk covers the tools, http/coordination-remote the calls',
  'spawn/tmux': 'windows of started agents in tmux; spawn/spawn covers their life',
  'http/extended-contract': 'contracts with a base through a server; contract/extends covers the rules',
  'cli/choose-preset': 'presets that init chooses for each language; cli/survey covers what it finds',
  'http/prd-reviews': 'reviews of product documents; http/reviews covers the rules',
  'docs/guides':
    'the commands of every guide, each page in a new repository; docs/runnable and docs/tour cover the marked blocks',
  'doors/agents': 'agents behind their socket, with a key that is added outside; doors/agent-socket covers the socket',
  'cli/init-templates': 'every template of init; e2e/init-walk covers one whole',
  'spawn/fresh': 'started agents that begin again without memory; spawn/spawn covers their life',
  'http/git-attributes': 'attributes of git that change what is compared; http/git-checks covers the checks',
  'http/documents':
    'contracts in folders of documents through a server; contract/documents/workflow covers how they are read',
  'core/rules/many': 'very many facts; core/rules/chain and core/rules/reference cover the rules',
  'mcp/phases': 'documents of phases over MCP; http/phases covers the rules',
  'container/real': 'builds an image and runs it with Docker or Podman; cli/local covers up and down',
  'container/up': 'starts a server several times; cli/local covers up and down',
  'coordination/kill': 'kills a server in the middle of a council; e2e/kill covers recovery in general',
  'coordination/seed-000': 'a council as its document tells it; coordination and http/coordinations cover the rules',
  'dashboard/passkeys':
    'passkeys in a browser under --confirm always; operators/confirmations covers the rules over REST',
  'dashboard/records':
    'filters, hostile content, live councils, revoked sessions and axe on six pages; dashboard/pages covers their main paths',
  'dashboard/confirm': 'passkeys in a browser with a virtual authenticator; operators/confirmations covers the rules',
  'dashboard/inbox':
    'everything that waits, acted on in a browser by pointer and by keys; dashboard/pages covers an approval',
  'dashboard/archived-task':
    'pages after a task was archived; dashboard/serving covers what is answered for what is not there',
  'dashboard/large': 'a thousand tasks on the board; dashboard/pages covers a few',
  'dashboard/ledger-search':
    'searches over 230,000 events in a browser; store/sqlite covers where a page ends and goes on',
  'dashboard/live':
    'two browsers, tabs, a restarted server and ended sessions; dashboard/pages covers what arrives live',
  'dashboard/decisions': 'approvals decided in two browsers and by keyboard; dashboard/pages covers the main path',
  'dashboard/hostile-content':
    'markup, links, turned text and diffs of 100,000 lines; dashboard/shown-text covers how text is shown',
  'dashboard/agents-and-ends':
    'started agents, merges and cancelled tasks in a browser; spawn/spawn and worktrees/path-leases cover the rules',
  'dashboard/contracts':
    'trust, differences and webhooks of contracts in a browser; dashboard/pages covers the main path',
  'dashboard/demo': 'the demo followed in a browser; demo/demo covers the demo, dashboard/pages what arrives live',
  'dashboard/ended-sessions':
    'expired sessions, foreign pages and long comments in a browser; operators/sessions covers the rules',
  'dashboard/keyboard': 'inbox, approval and task by keys alone; dashboard/pages covers single keys',
  'dashboard/native': 'passkeys for agents bound by hooks in a browser; operators/passkeys covers the rules',
  'dashboard/passphrase': 'passphrases in a browser; operators/confirmations covers the rules',
  'dashboard/unknown-addresses': 'addresses of nothing in a browser; dashboard/serving covers what is answered',
  'dashboard/pictures/every-page':
    'axe and overflow on every page in every state, size and theme; dashboard/pages covers the main ones',
  'dashboard/task': 'every tab, action and moment of a task page; dashboard/pages covers the main path',
  'demo/faults': 'the demo with planted faults: it has to notice each',
  'demo/leaving': 'interrupts the demo at many points',
  'docs/coordination': 'the commands of the page on councils; docs/tour runs those of the tour',
  'docs/workflow':
    'the commands of the page on workflows; docs/tour runs those of the tour, http/rules covers the rules',
  'e2e/telemetry': 'a collector on loopback and one that is away; http/readiness covers what is measured',
  'e2e/answers':
    'every route of a server process against its schema; http/answer-check covers how answers are held against it',
  'docs/api-answers': 'the fields of every answer as docs/api.md lists them; http/answer-check covers the schemas',
  'e2e/baseline-kill': 'kills a server while the tests of the starting tree run; http/baseline covers restarts',
  'e2e/earlier-version': 'the state directory of an earlier version; store/sqlite covers ledgers that are opened again',
  'e2e/independent-review':
    'reviews by another than the agent, through all phases; core/independent-review covers the rules',
  'e2e/installed': 'packs and installs the package and starts its servers; cli/bundle covers the built program',
  'e2e/install':
    'tasks that install dependencies, approved and refused; core/package-managers and app/install-changes cover the rules',
  'e2e/nodes': 'two servers on one PostgreSQL database, killed and paused; needs PostgreSQL',
  'e2e/package': 'the packages, installed with three versions of Node.js; cli/bundle covers the built program',
  'e2e/postgres': 'a whole task on PostgreSQL with kill -9 and crashes; e2e/kill covers recovery in general',
  'e2e/setup-change': 'changes of the test setup, approved and rejected; http/pinned-tests covers what RED records',
  'e2e/way-back-criteria': 'criteria in a later visit; e2e/walks covers the way back',
  'forgery/blind-javascript':
    'forgeries with node:test, mocha and vitest, written from the documentation alone; forgery/node covers each class',
  'forgery/blind-python-go':
    'forgeries with pytest and Go, written from the documentation alone; lying/python covers the rules',
  'forgery/blind-text':
    'code that reads or replaces the text of its tests, with every runner; inverter/inverter covers the texts',
  'forgery/built-at-start':
    'editable installs, generated code and built workspaces; forgery/view-providers covers dependencies',
  'forgery/built-tests': 'installs jest; checks/written-tests covers which files are held',
  'forgery/cargo':
    'tests inside of Rust sources, compiled for each run; checks/declared-tests covers how they are read',
  'forgery/each-assertion':
    'tests in which one assertion lies beside an honest one, with three runners; inverter/inverter covers the texts',
  'forgery/forged-cargo':
    'forged results of cargo, which compiles for each run; checks/declared-tests and lying/python cover the rules',
  'forgery/forged-go':
    'forged results of Go, which compiles for each run; checks/declared-tests and lying/python cover the rules',
  'forgery/forged-python': 'forged results of pytest and unittest; lying/python tries the main ones',
  'forgery/in-process-jest': 'every forged comparison and report with jest; forgery/vitest tries one of each',
  'forgery/in-process-mocha': 'every forged comparison and report with mocha; forgery/vitest tries one of each',
  'forgery/in-process-node': 'every forged comparison and report with node:test; forgery/node tries one of each',
  'forgery/in-process-vitest': 'every forged comparison and report with vitest; forgery/vitest tries one of each',
  'forgery/inline-rust':
    'every way to change tests inside of Rust sources; checks/declared-tests covers how they are read',
  'forgery/jest': 'one forgery of each class with jest; forgery/vitest and forgery/node try the same classes',
  'forgery/may-write': 'data that tests write, through a server; checks/written-tests covers which files are held',
  'forgery/mocha': 'one forgery of each class with mocha; forgery/vitest and forgery/node try the same classes',
  'forgery/red-go':
    'RED with Go, which builds its standard library for every run; forgery/vitest and forgery/node try one of each class',
  'forgery/red-node': 'every rule of RED with node:test; forgery/vitest and forgery/node try one of each class',
  'forgery/red-python': 'RED with pytest and unittest; e2e/walks covers the rules with unittest',
  'forgery/report-node': 'forged reports of node:test through a server; checks/second-report covers what runners tell',
  'forgery/report-others': 'forged reports of pytest, vitest and mocha; checks/second-report covers what runners tell',
  'forgery/snapshots': 'snapshots of jest and vitest through a server; checks/snapshots covers what may be added',
  'forgery/typescript': 'TypeScript with a build step; forgery/node and forgery/vitest cover each class',
  'forgery/view-cargo': 'every setup of cargo through a server; checks/harness covers what is pinned',
  'forgery/view-go':
    'every setup of Go through a server, which compiles for each run; checks/harness covers what is pinned',
  'forgery/view-node': 'further forgeries with node:test; forgery/node and forgery/vitest cover each class',
  'forgery/view-python': 'views with pytest and unittest; lying/python and forgery/view-providers cover the rules',
  'forgery/view-python-setup': 'every setup of pytest and unittest through a server; lying/python covers the rules',
  'forgery/view-task':
    'views of tasks with dependencies and data; lying/python and forgery/view-providers cover the rules',
  'garbage/endpoints-rest':
    'malformed requests to every second endpoint; garbage/endpoints covers about half of the others',
  'garbage/pages': 'pages and cursors with malformed values; garbage/endpoints covers malformed requests',
  'http/baseline-coverage': 'coverage commands with old failures; http/baseline covers the rules',
  'http/baseline-unrecorded': 'baselines without a recorded start or a sandbox; http/baseline covers the rules',
  'http/commented-out-code':
    'commented-out code in every language and in odd places; http/git-checks covers the main case',
  'http/consensus-restart': 'votes across restarts; http/consensus covers the rules, e2e/kill recovery in general',
  'http/consensus-reviews': 'votes of reviewers in every state; http/consensus covers the rules',
  'http/build-cache': 'compiles the standard library of Go; confinement/scratch covers how layers are kept',
  'http/coverage-tools': 'installs c8 and coverage.py; checks/reports/coverage covers which files count',
  'http/earlier-changes': 'uncommitted changes from before a task; core/commit-scope covers which paths count',
  'http/generated-contracts': 'contracts made at random through a server; contract/fuzz covers how they are read',
  'http/git-contract': 'contracts in every state in a repository; e2e/init-walk covers the main path',
  'http/git-excludes': 'what git excludes in every way; http/git-commit covers commits',
  'http/git-hooks': 'hooks of the repository run, skipped, failing and hostile; http/git-commit covers commits',
  'http/git-repositories':
    'commits in sparse, signed, LFS and locked repositories and among build output; http/git-commit covers the main path',
  'http/git-submodules': 'commits in repositories with submodules in every state',
  'http/harness-pins':
    'every kind of test setup through a server; checks/harness covers what is pinned, lying/green the gates',
  'http/knowledge-reserved': 'contract files in the knowledge index; mcp/hidden covers what an agent sees',
  'http/linked-tests': 'links to folders below tests/; http/pinned-tests covers what RED records',
  'http/long-gates-agents':
    'long gates with leases, reviewers, hooks and later visits; http/long-gates and app/long-gates cover the rules',
  'http/long-tools': 'calls of tools that run tests for long over every entrance; http/long-gates covers the main path',
  'http/observed': 'observed runs in every combination; e2e/walks covers the main path',
  'http/odd-trees': 'trees with every kind of odd entry; tools/files/hostile-paths covers single paths',
  'http/phase-diff': 'what a phase changed in every combination; http/git-checks covers the main case',
  'http/phases-grades': 'grades of evidence in every combination; http/phases covers the main path',
  'http/phases-held': 'gates that hold a completed checkpoint back; http/phases covers the main path',
  'http/pinned-commands': 'every way to change a script of a gate; lying/green covers the gates',
  'http/prd-whole': 'one workflow from end to end with every field; http/walk covers the main path',
  'http/recovery': 'crashed agents with back-off in real time; core/recovery covers the rules',
  'http/redirected-commands': 'commands of gates that are led elsewhere; checks/harness covers what is pinned',
  'http/regressions': 'mistakes of earlier versions; http/walk and http/rules cover the rules',
  'http/scratch': 'every kind of ignored path; confinement/scratch covers the layer itself',
  'http/sigusr1': 'tests that send SIGUSR1 through a server; checks/second-report covers that it is refused',
  'http/status-runs': 'status.json of many runs; runs/run-files covers how it is written',
  'http/stopping': 'a server that is stopped while calls run; cli/serve covers the signals',
  'inverted/forgeries': 'code that replaces comparisons with every runner; inverted/node covers the gate',
  'inverted/gate': 'every verdict through a server; checks/inverted covers the verdicts, inverted/node the gate',
  'inverted/go-panics': 'compiles Go for each run; checks/go-continued covers how results are added',
  'inverted/kill': 'kills a server during the inverted run; e2e/kill covers recovery in general',
  'inverted/limits':
    'goes beyond every limit of the inverted run and of examples; checks/examples covers the sizes of examples',
  'inverted/old-tests': 'an old test that takes long; inverted/node covers the gate',
  'inverted/runners': 'installs jest, mocha and vitest and builds with Go and cargo; inverted/node covers the gate',
  'inverted/rust-examples': 'examples in comments of Rust, with a real cargo; checks/inverted covers the verdict',
  'inverter/all-runs': 'real runs of further runners; inverted/node covers node:test',
  'inverter/libraries': 'installs jest, mocha, chai, tape, ava and testify to run their assertions turned around',
  'inverter/lies':
    'parts that lie in expected values, with three runners and seeds; inverter/inverter covers the texts',
  'inverter/runs': 'real runs of rewritten tests; inverter/inverter covers the texts, inverted/node the gate',
  'knowledge/embedder':
    'the packaged model and endpoints that fail; knowledge/index and http/knowledge cover the main path',
  'knowledge/recall': 'how well searches find paraphrases; knowledge/index covers the order of results',
  'knowledge/search':
    'the order of results over a whole corpus; http/knowledge and knowledge/index cover the main path',
  'knowledge/words': 'related words and forms of words; knowledge/index covers the order of results',
  'launch/claude-walks':
    'further sessions of a real Claude Code in tmux; launch/claude covers a whole one, launch/in-chat the rules',
  'launch/claude-restarts':
    'restarts, /clear and two sessions of a real Claude Code in tmux; launch/in-chat covers the rules',
  'launch/planted-settings':
    'what four real agent CLIs do with settings of a repository; launch/claude, codex and other-clis show that sessions do not',
  'launch/native': 'a real Claude Code with its own tools in tmux; http/hook-events covers the rules',
  'launch/native-attacks':
    'attacks by a real Claude Code with its own tools in tmux; http/hook-events and launch/session-hooks cover the rules',
  'launch/codex-native':
    'a real Codex with its own tools in tmux; launch/session-hooks and launch/session-parts cover the rules',
  'launch/codex-walks':
    'sessions of a real Codex in tmux, with two models; launch/codex covers a whole one, launch/in-chat the rules',
  'launch/other-clis-walks':
    'whole and killed sessions of a real Gemini CLI and OpenCode in tmux; launch/other-clis covers a short one',
  'lying/red': 'what does not open RED in one workflow; forgery/vitest and forgery/node try one of each class',
  'lying/reports': 'forged reports through a server; checks/reports/properties and lying/green cover the rules',
  'mcp/conformance': 'runs the official MCP conformance suite, which has to be installed first',
  'mcp/hidden-documents': 'documents of later phases over MCP; mcp/hidden covers contracts in one file',
  'mcp/inspector': 'drives the official MCP inspector, which has to be installed first',
  'mcp/long-gates': 'a gate of three minutes over every entrance; http/long-gates covers the rules with short times',
  'mcp/participant-killed':
    'a council member over MCP that is killed; participants/command-participant covers the main path',
  'mcp/participant-programs': 'programs in a council over MCP; participants/command-participant covers the main path',
  'mcp/reviewer': 'reviewers over MCP; http/reviews covers the rules, spawn/reviewer-program what they run',
  'mcp/stubborn': 'an agent CLI that refuses to use the workflow tools; participants/turn covers the same answers',
  'participants/command-others': 'councils of Codex, Gemini CLI and OpenCode; the Claude Code one is in npm test',
  'participants/model-failures': 'every failure of a model; participants/turn covers the main ones',
  'real-agents/budget': 'token budgets of four real agent CLIs; doors/usage-meter covers how tokens are counted',
  'real-agents/cheats': 'real agent CLIs that cheat; attack and lying cover the same attempts over REST',
  'real-agents/hooks': 'hooks of real agent CLIs; hooks/dialects covers the rules',
  'real-agents/integrations':
    'installs five libraries for agents and runs an example with each; sdk/typescript and mcp cover what they use',
  'real-agents/killed': 'real agent CLIs that are killed half-way; spawn/killed covers the same with a small agent',
  'real-agents/own-tools': 'real agent CLIs that use their own tools; spawn/harness covers how they are switched off',
  'real-agents/reviewer-instructions':
    'real agent CLIs that review a tree with instructions in it; spawn/reviewer-program covers where they are started',
  'real-agents/reviewers': 'real agent CLIs as reviewers; spawn/reviewer-program covers what they run',
  'real-agents/slow-door': 'a real agent CLI behind a slow model',
  'connect/canary-verdict': 'what the canary says of every binding; connect/edit covers what is written',
  'real-agents/whole': 'a whole task with Claude Code that the server starts; launch/claude covers one in a terminal',
  'real-agents/whole-others':
    'a whole task with Gemini CLI, OpenCode and Codex; launch covers one in a terminal with each',
  'repositories/compiled': 'whole walks with Go and cargo, which compile for each run; e2e/init-walk covers the walk',
  'repositories/gradle': 'a whole walk with Gradle, which compiles for each run; e2e/init-walk covers the walk',
  'repositories/javascript':
    'whole walks with vitest, jest, mocha, TypeScript and workspaces; e2e/init-walk covers node:test',
  'repositories/newest':
    'walks with Node.js 24 and the newest vitest and mocha; e2e/init-walk covers the way from init to a commit',
  'repositories/others': 'whole walks with Maven, RSpec and PHPUnit; e2e/init-walk covers the walk',
  'repositories/pytest': 'whole walks with pytest in .venv; e2e/init-walk covers node:test',
  'repositories/python': 'whole walks with uv, unittest and Django; e2e/init-walk covers node:test',
  'runs/process': 'status files of a killed server; runs/run-files covers how they are written',
  'sdk/examples': 'the example agents in both languages; sdk/typescript and sdk/python cover the clients',
  'sdk/package': 'packs and installs both SDKs from scratch',
  'spawn/lives': 'agents that die again and again, with back-off; spawn/spawn and spawn/killed cover one life each',
  'spawn/metered': 'token budgets of started agents; doors/metered-relay covers the meter',
  'spawn/no-room': 'agents on a full machine',
  'spawn/reviewers': 'reviewers that are started and watched; spawn/reviewer-program covers what they run',
  'spawn/reviewers-again': 'reviewers that are started again after back-off',
  'spawn/reviewers-killed': 'kills a server while reviewers work',
  'spawn/waiting': 'agents that wait for a person in real time; http/idle-sessions covers the rules',
  'spawn/worktree-cli': 'agents in work trees on the command line; spawn/worktree covers the same over REST',
  'store/move': 'moves ledgers to PostgreSQL and back; store/backup covers how a ledger is copied',
  'store/open': 'damaged, locked and foreign ledgers; store/sqlite and store/lock cover the main ones',
  'tools/files/search-tools': 'searches of large and hostile trees; tools/files/hostile-paths covers what may be read',
  'tools/files/swap-race': 'races for twelve seconds; tools/files/hostile-paths covers single paths',
  'tools/upstream/stdio':
    'every fault of an upstream MCP server; tools/upstream/answers and http/upstream cover the main ones',
  'e2e/bad-store': 'starts a server on each wrong PostgreSQL store; needs PostgreSQL',
  'e2e/shared-trees':
    'nodes that share work trees, killed, paused and adopted; store/shared-trees covers folder, lock and fence',
  'e2e/rolling-restart': 'restarts three nodes in turn under load; needs PostgreSQL',
  'store/keeping-postgres':
    'erases, archives and rotates in PostgreSQL; store/erase, archive and rotate-keys cover SQLite',
  'store/nodes': 'several nodes on one PostgreSQL database: homes, fencing, following; needs PostgreSQL',
  'store/postgres': 'the store suite on PostgreSQL, tampering and crashes; store/sqlite runs the same suite',
  'torture/faults': 'full disks and I/O errors under load; store/faults covers the store',
  'torture/nodes': 'three nodes on PostgreSQL, hit in every way, and planted faults; torture/kill hits one server',
  'torture/power': 'power failures of the store at many points; torture/power-server tries a whole server',
  'transcripts/large': 'transcripts of many megabytes; transcripts/refusals covers how they are read',
  'worktrees/kill': 'kills a server while it merges; e2e/kill covers recovery in general',
  'worktrees/left-over': 'what killed merges leave behind',
  'worktrees/own-settings':
    'plants programs in the settings of real repositories; worktrees/local-settings covers how settings are read',
  'worktrees/parallel': 'many tasks in parallel in one repository',
  'worktrees/worktrees': 'work trees in every state; worktrees/path-leases covers the main path',
}

const RUNS_PROCESSES = /['"]node:(child_process|worker_threads|inspector|net|http)['"]/
const RUNS_SERVERS_OR_BUILD = /\bfetch\(|\.listen\(|\bdist\/(program|app|cli|core|store)\b/
const IMPORTED = /\bfrom ['"](\.[^'"]+)['"]|\bimport\(['"](\.[^'"]+)['"]\)/g

export interface Suites {
  readonly unit: readonly string[]
  readonly integration: readonly string[]
  readonly full: readonly string[]
}

/** Every test file, once, as a path below the root of the project. */
export function sortIntoSuites(): Suites {
  const files = readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .toSorted()
  const isFull = (name: string): boolean => name.slice(0, -'.test.ts'.length) in FULL_ONLY
  const isUnit = (name: string): boolean => !isFull(name) && isUnitTest(join(TEST, name))
  const below = (names: readonly string[]): readonly string[] => names.map((name) => `test/${name}`)
  return {
    unit: below(files.filter(isUnit)),
    integration: below(files.filter((name) => !isUnit(name) && !isFull(name))),
    full: below(files.filter(isFull)),
  }
}

/** The files that a word of the command line names: by their path or the end of it, `test/torture/power.test.ts:12`. */
export function findNamedFiles(files: readonly string[], words: readonly string[]): readonly string[] {
  const names = words.filter((word) => word.includes('.test.ts')).map((word) => word.replace(/:\d+$/, ''))
  return files.filter((file) => names.some((name) => resolve(ROOT, file).includes(name.replace(/^(?:\.\/)+/, ''))))
}

/** The files in the folders that the command line names: `test/torture`. */
export function findFilesBelow(files: readonly string[], words: readonly string[]): readonly string[] {
  const folders = words.map((word) => resolve(ROOT, word)).filter((folder) => folder.startsWith(TEST))
  return files.filter((file) => folders.some((folder) => resolve(ROOT, file).startsWith(`${folder}/`)))
}

interface SourceFile {
  /** Starts no process, thread or server, and reads nothing that is built. */
  readonly isPlain: boolean
  readonly imports: readonly string[]
}

const read = new Map<string, SourceFile>()

function isUnitTest(test: string): boolean {
  const seen = new Set([test])
  for (const path of seen) {
    const file = readSource(path)
    if (!file.isPlain) return false
    for (const imported of file.imports) seen.add(imported)
  }
  return true
}

function readSource(path: string): SourceFile {
  const before = read.get(path)
  if (before !== undefined) return before
  const text = readFileSync(path, 'utf8')
  const isInTest = path.startsWith(TEST)
  const file = {
    isPlain: !RUNS_PROCESSES.test(text) && !(isInTest && RUNS_SERVERS_OR_BUILD.test(text)),
    imports: [...text.matchAll(IMPORTED)]
      .map((match) => resolve(dirname(path), (match[1] ?? match[2] ?? '').replace(/\.js$/, '.ts')))
      .filter((imported) => existsSync(imported)),
  }
  read.set(path, file)
  return file
}
