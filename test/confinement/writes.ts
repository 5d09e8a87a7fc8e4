import { existsSync } from 'node:fs'

/**
 * Ways to change something below a folder that has main.txt, tool.sh, lib/a.txt and an empty folder in it. Below `tests` each of
 * them arrives, below `src` none may. `scratch` is a folder that may be written.
 */
export interface Write {
  readonly name: string
  readonly script: (folder: string, scratch: string) => string
}

const write = (name: string, script: Write['script']): Write => ({ name, script })

/** The folder as a link in the scratch folder must name it. */
const from = (scratch: string, folder: string): string => `${'../'.repeat(scratch.split('/').length)}${folder}`

const PATCH = (folder: string): string =>
  `printf -- '--- a/${folder}/main.txt\\n+++ b/${folder}/main.txt\\n@@ -1 +1 @@\\n-as it was\\n+new\\n' > /tmp/p`
const RENAMEAT2 = process.arch === 'arm64' ? 276 : 316

export const WRITES: readonly Write[] = [
  write('a here document', (d) => `cat > ${d}/main.txt <<'END'\nnew\nEND`),
  write('an appended line', (d) => `echo new >> ${d}/main.txt`),
  write('tee', (d) => `echo new | tee ${d}/main.txt`),
  write('sed -i', (d) => `sed -i s/was/is/ ${d}/main.txt`),
  write('perl', (d) => `perl -e 'open(F, ">", "${d}/main.txt"); print F "new"'`),
  write('node', (d) => `node -e 'require("node:fs").writeFileSync("${d}/main.txt", "new")'`),
  ...(existsSync('/usr/bin/python3')
    ? [
        write('python', (d) => `/usr/bin/python3 -c 'open("${d}/main.txt", "w").write("new")'`),
        write(
          'a memory map',
          (d) =>
            `/usr/bin/python3 -c 'import mmap; f = open("${d}/main.txt", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:2] = b"XX"; m.flush()'`,
        ),
      ]
    : []),
  write('a hard link', (d, s) => `mkdir ${s}/new && ln ${d}/main.txt ${s}/new/alias && echo new >> ${s}/new/alias`),
  write(
    'a hard link that is removed again',
    (d, s) => `ln ${d}/main.txt ${s}/alias && echo new >> ${s}/alias && rm ${s}/alias`,
  ),
  write('a link to the folder', (d, s) => `ln -s ${from(s, d)} ${s}/way && echo new > ${s}/way/main.txt`),
  write(
    'a link to the folder that is removed again',
    (d, s) => `ln -s ${from(s, d)} ${s}/way && echo new > ${s}/way/main.txt && rm ${s}/way`,
  ),
  write('a link to the file', (d, s) => `ln -s ${from(s, d)}/main.txt ${s}/way && echo new > ${s}/way`),
  write(
    'git checkout',
    (d) => `export GIT_INDEX_FILE=/tmp/index; git read-tree HEAD~1 && git checkout-index --force ${d}/main.txt`,
  ),
  write('git apply', (d) => `${PATCH(d)}; git apply /tmp/p`),
  write('patch', (d) => `${PATCH(d)}; patch -s -p1 < /tmp/p`),
  write('mv from elsewhere', (d) => `echo new > /tmp/n; mv /tmp/n ${d}/main.txt`),
  write('mv inside the tree', (d, s) => `echo new > ${s}/n; mv ${s}/n ${d}/main.txt`),
  write('mv to another name', (d) => `mv ${d}/main.txt ${d}/other.txt`),
  write('mv of a folder', (d) => `mv ${d}/lib ${d}/other`),
  write(
    'another folder in its place',
    (d) => `l=$(mktemp -d) && echo new > $l/a.txt && rm -r ${d}/lib && mv $l ${d}/lib`,
  ),
  write(
    'an exchange',
    (d, s) =>
      `echo new > ${s}/n; exec perl -e 'my ($a, $b) = @ARGV; exit(syscall(${RENAMEAT2}, -100, $a, -100, $b, 2) ? 1 : 0)' ${s}/n ${d}/main.txt`,
  ),
  write(
    'tar',
    (d) => `mkdir -p /tmp/t/${d} && echo new > /tmp/t/${d}/main.txt && tar -C /tmp/t -cf - ${d}/main.txt | tar -xf -`,
  ),
  write('cp -a', (d) => `echo new > /tmp/n; cp -a /tmp/n ${d}/main.txt`),
  ...(existsSync('/usr/bin/rsync') ? [write('rsync', (d) => `echo new > /tmp/n; rsync /tmp/n ${d}/main.txt`)] : []),
  write('dd', (d) => `echo new | dd of=${d}/main.txt`),
  write('truncate', (d) => `truncate -s 3 ${d}/main.txt`),
  write('fallocate', (d) => `fallocate -l 4096 ${d}/main.txt`),
  write('install', (d) => `echo new > /tmp/n; install -m 755 /tmp/n ${d}/main.txt`),
  write(
    'a process in the background',
    (d) => `(setsid nohup sh -c 'sleep 0.1; echo new > ${d}/main.txt' >/dev/null 2>&1 &); sleep 0.4`,
  ),
  write('chmod of a file', (d) => `chmod 600 ${d}/main.txt`),
  write('chmod of a folder', (d) => `chmod 700 ${d}/lib`),
  write('a new file', (d) => `touch ${d}/new.txt`),
  write('a new file far down', (d) => `mkdir -p ${d}/a/b/c && touch ${d}/a/b/c/new.txt`),
  write('a new folder', (d) => `mkdir ${d}/new`),
  write('a new link', (d) => `ln -s main.txt ${d}/new`),
  write('rm', (d) => `rm ${d}/main.txt`),
  write('rm of a folder', (d) => `rm -r ${d}/lib`),
  write('rm of everything', (d) => `rm -r ${d}/*`),
  write('rmdir', (d) => `rmdir ${d}/empty`),
  write('rm and mkdir', (d) => `rm -r ${d}/lib && mkdir ${d}/lib`),
  write('a folder in the place of a file', (d) => `rm ${d}/main.txt && mkdir ${d}/main.txt && touch ${d}/main.txt/x`),
  write('a file in the place of a folder', (d) => `rm -r ${d}/lib && echo new > ${d}/lib`),
  write('a link in the place of a file', (d) => `ln -sf tool.sh ${d}/main.txt`),
  write('a link in the place of a folder', (d) => `mv ${d}/lib ${d}/moved && ln -s moved ${d}/lib`),
  write('/proc/self/cwd', (d) => `echo new > /proc/self/cwd/${d}/main.txt`),
  write('/proc/self/root', (d) => `echo new > /proc/self/root$PWD/${d}/main.txt`),
  write('a folder opened before', (d) => `exec 8<${d}; echo new > /proc/self/fd/8/main.txt`),
  write('a file opened for reading before', (d) => `exec 8<${d}/main.txt; echo new > /proc/self/fd/8`),
]

/** What may not arrive anywhere, or not there. */
export const NEVER: readonly (readonly [name: string, script: string])[] = [
  ['a pipe', 'mkfifo tests/pipe'],
  [
    'a socket',
    `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("tests/socket")) or exit 1'`,
  ],
  ['a device', 'mknod tests/null c 1 3'],
  ['the device that stands for nothing', 'mknod tests/nothing c 0 0'],
  ['a link to a file outside', 'ln -s /etc/passwd tests/out'],
  ['a link to a folder outside', 'ln -s / tests/out'],
  ['a link up and out', 'ln -s ../../beside.txt tests/out'],
  ['a link out by way of another link', 'ln -s .. tests/up; ln -s up/../beside.txt tests/out'],
  ['a link out behind a folder of the tree', 'ln -s 0/../../../beside.txt tests/out'],
  ['a link that is turned outwards', 'ln -sf ../../beside.txt tests/way-in'],
  ['a link in the place of tests', 'mv tests old; ln -s src tests'],
  ['the contract', 'echo x > agent_workflow.yaml'],
  ['a hook', 'echo x > .git/hooks/pre-commit'],
  ['the settings of git', 'echo x >> .git/config'],
  ['the git directory moved away', 'mv .git tests/git'],
  ['another git directory', 'rm -rf .git; mkdir .git'],
  ['a git directory below tests', 'git init -q tests/inner'],
  ['a git file below tests', 'echo "gitdir: ../src" > tests/.git'],
  ['attributes of git', 'echo "* filter=x" > .gitattributes'],
  ['settings of an agent', 'mkdir .claude && echo {} > .claude/settings.json'],
  ['tools of an agent', 'echo {} > .mcp.json'],
  ['a pipeline', 'mkdir -p .github/workflows && echo x > .github/workflows/x.yml'],
  ['a file beside tests', 'echo x > tests.txt'],
  ['a folder that is named like tests', 'mkdir "tests " && echo x > "tests /x"'],
  ['tests in capitals', 'mkdir Tests && echo x > Tests/x'],
  ['a mount', 'mount --bind tests src && echo new > src/0/main.txt'],
  ['a name that is no text', `echo x > tests/$'\\xff\\xfe'`],
  ['folders without end', `perl -e 'chdir "tests"; for (1 .. 400) { mkdir "d" or exit 1; chdir "d" }'`],
]
