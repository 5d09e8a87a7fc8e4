import { detectJestJsonRunner, readJestJson } from './jest-json.js'
import { isJestText, readJestText } from './jest-text.js'
import { type Fields, lastDocument } from './json.js'
import { extractJunit, readJunit } from './junit.js'
import { isCargoText, readCargoText } from './languages/cargo-text.js'
import { isGoText, readGoText } from './languages/go.js'
import { type GoEvents, isGoJson, readGoJson } from './languages/go-events.js'
import { isMavenText, readMavenText } from './languages/maven-text.js'
import { isPhpunitText, readPhpunitText } from './languages/phpunit-text.js'
import { isRspecJson, readRspecJson } from './languages/rspec-json.js'
import { isRspecText, readRspecText } from './languages/rspec-text.js'
import { isMochaJson, readMochaJson } from './mocha-json.js'
import { isMochaText, readMochaText } from './mocha-text.js'
import { isNodeSpec, readNodeSpec } from './node-spec.js'
import { isPytestText, readPytestText } from './pytest-text.js'
import { type ReportReading, type RunnerFormat, TEST_FORMATS, type TestFormat } from './report.js'
import { isTap, readTap } from './tap.js'
import type { WrittenOutput } from './text.js'
import { isUnittestText, readUnittestText } from './unittest-text.js'
import { isVitestText, readVitestText } from './vitest-text.js'

/** The output of a command; the stream that is more natural for a runner is read first. */
export interface Streams {
  readonly out: WrittenOutput
  readonly err: WrittenOutput
  readonly root: string | null
  /** Events of `go test -json`, read during the run; complete even if `out` is not. */
  readonly goEvents?: GoEvents | undefined
  /** The runner that reported on the socket of Phaselock, where it was one. */
  readonly runner?: string | undefined
}

interface Reader {
  readonly runner: RunnerFormat
  /** Formats of contracts, besides `auto`, that select this reader. */
  readonly formats: readonly TestFormat[]
  /** The reading, or null when the output has another format. */
  read(streams: Streams): ReportReading | null
}

function makeTextReader(runner: RunnerFormat, formats: readonly TestFormat[], lines: LinesReader): Reader {
  return {
    runner,
    formats,
    read: (streams) => {
      const own = lines.stream === 'err' ? streams.err : streams.out
      return lines.is(own.lines) ? lines.read(own.lines, streams.root) : null
    },
  }
}

interface LinesReader {
  readonly stream: 'out' | 'err'
  readonly is: (lines: readonly string[]) => boolean
  readonly read: (lines: readonly string[], root: string | null) => ReportReading
}

function makeDocumentReader(runner: RunnerFormat, is: (document: Fields) => boolean, read: DocumentRead): Reader {
  return {
    runner,
    formats: [runner === 'unittest' ? 'pytest' : runner],
    read: ({ out, root }) => {
      const document = lastDocument(out.text)
      return document === null || !is(document) ? null : read(document, root)
    },
  }
}

type DocumentRead = (document: Fields, root: string | null) => ReportReading

/** In this order: for one runner, the first reader that matches is used. */
export const READERS: readonly Reader[] = [
  makeDocumentReader('jest', (document) => detectJestJsonRunner(document) === 'jest', readJestJson),
  makeDocumentReader('vitest', (document) => detectJestJsonRunner(document) === 'vitest', readJestJson),
  makeDocumentReader('mocha', isMochaJson, readMochaJson),
  makeDocumentReader('rspec', isRspecJson, readRspecJson),
  {
    runner: 'junit',
    formats: TEST_FORMATS.filter((format) => format !== 'tap'),
    read: ({ out, root }) => {
      const document = extractJunit(out.text)
      return document === null ? null : readJunit(document, root)
    },
  },
  {
    runner: 'go',
    formats: ['go'],
    read: ({ out, err, root, goEvents }) => {
      if (goEvents?.hasSeenAny === true) return goEvents.read(err.lines, root)
      return isGoJson(out.lines) ? readGoJson(out.text, err.lines, root) : null
    },
  },
  {
    runner: 'go',
    formats: ['go'],
    read: ({ out, err, root }) => (isGoText(out.lines) ? readGoText(out.lines, err.lines, root) : null),
  },
  makeTextReader('tap', ['tap', 'node', 'vitest', 'mocha'], { stream: 'out', is: isTap, read: readTap }),
  makeTextReader('node', ['node'], { stream: 'out', is: isNodeSpec, read: readNodeSpec }),
  {
    runner: 'vitest',
    formats: ['vitest'],
    read: ({ out, err, root }) => (isVitestText(out.lines) ? readVitestText(out, err.lines, root) : null),
  },
  makeTextReader('jest', ['jest'], { stream: 'err', is: isJestText, read: readJestText }),
  makeTextReader('mocha', ['mocha'], { stream: 'out', is: isMochaText, read: readMochaText }),
  makeTextReader('pytest', ['pytest'], { stream: 'out', is: isPytestText, read: readPytestText }),
  makeTextReader('unittest', ['pytest'], { stream: 'err', is: isUnittestText, read: readUnittestText }),
  makeTextReader('rspec', ['rspec'], { stream: 'out', is: isRspecText, read: readRspecText }),
  makeTextReader('phpunit', ['phpunit'], { stream: 'out', is: isPhpunitText, read: readPhpunitText }),
  makeTextReader('maven', ['maven'], { stream: 'out', is: isMavenText, read: readMavenText }),
  {
    runner: 'cargo',
    formats: ['cargo'],
    read: ({ out, err, root }) =>
      isCargoText(out.lines, err.lines) ? readCargoText(out.lines, err.lines, root) : null,
  },
]
