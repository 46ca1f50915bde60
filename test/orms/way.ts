import type { Connected } from '../../src/conformance/subject.ts'

/** An ORM, and how the laws reach a database through it. */
export interface OrmWay {
  /** The npm package. */
  readonly name: string
  readonly engines: readonly string[]
  readonly connect: (engine: string, url: string, size: number) => Promise<Connected>
}
