// Rounds that alternate between the things compared, medians over rounds, and a table that states ratios.
import { execFileSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Runs every candidate once a round, in turn, so that a slow moment of the machine meets all of them. */
export async function alternate(rounds, candidates) {
  const seen = new Map(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const [name, measure] of Object.entries(candidates)) seen.get(name).push(await measure(round))
  return Object.fromEntries([...seen].map(([name, values]) => [name, values]))
}

export function medians(results, pick = (value) => value) {
  return Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values.map(pick))]))
}

/** How often a second the disk takes 4 KiB and an fsync, one after the other. */
export function rawFsync(dir, ms = 400) {
  const file = join(dir, 'fsync.probe')
  const fd = openSync(file, 'w')
  const block = Buffer.alloc(4096, 1)
  const times = []
  const end = performance.now() + ms
  while (performance.now() < end) {
    const start = performance.now()
    writeSync(fd, block)
    fsyncSync(fd)
    times.push(performance.now() - start)
  }
  closeSync(fd)
  unlinkSync(file)
  return { perSecond: (times.length * 1000) / times.reduce((a, b) => a + b, 0), p50Ms: median(times) }
}

/** Processor seconds that a process has used so far. */
export function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export function rssMegabytes(pid) {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line[1]) / 1024
}

export function machine() {
  const [cpu] = cpus()
  return {
    node: process.version,
    cpu: cpu.model,
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: execFileSync('uname', ['-r'], { encoding: 'utf8' }).trim(),
  }
}

/** One line of the result: what was measured, against what, the ratio, the goal and whether it is met. */
export function line(name, about) {
  return {
    name,
    ...about,
    met:
      about.goal === undefined
        ? null
        : about.goal.startsWith('≤') || about.goal.startsWith('<')
          ? about.ratio <= Number(about.goal.replace(/[^\d.]/g, ''))
          : about.ratio >= Number(about.goal.replace(/[^\d.]/g, '')),
  }
}

export function round(value, digits = 2) {
  return value === undefined || value === null ? null : Number(value.toPrecision(digits + 1))
}
