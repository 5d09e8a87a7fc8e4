import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { isFullDepth } from './depth.js'
import { getTestName, readTimes, splitEvenly } from './times.js'

/** So long that a worker would be left alone with one of them at the end, whichever project it belongs to. */
const LONG_SECONDS = 60
/** Processes are shared inside a project only, so that one follows the other. */
const PROJECTS = ['named', 'separate', 'shared', 'unit']

/** Starts the longest files first, and gives every shard the same share of the time. */
export class LongestFirst extends BaseSequencer {
  readonly #times = readTimes()

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = (file: TestSpecification): number =>
      this.#getSeconds(file) >= LONG_SECONDS ? -1 : PROJECTS.indexOf(file.project.name)
    return [...files].sort((a, b) => placeOf(a) - placeOf(b) || this.#getSeconds(b) - this.#getSeconds(a))
  }

  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    return splitEvenly(files, (file) => this.#getSeconds(file), count)[index - 1] ?? []
  }

  #getSeconds(file: TestSpecification): number {
    const depth = isFullDepth() || file.project.name === 'named' ? 'full' : 'usual'
    return this.#times.getSeconds(getTestName(this.ctx.config.root, file.moduleId), depth)
  }
}
