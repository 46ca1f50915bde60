import type { Connected, Subject } from '../../src/conformance/subject.ts'
import type { Dialect } from '../../src/dialects/dialect.ts'
import type { DialectName } from '../../src/registry.ts'

/** An ORM, and how the laws reach a database through it. */
export interface OrmWay {
  /** The npm package, or what it is called where it can be any. */
  readonly name: string
  /** The npm package that was used, where the name is none. */
  readonly package?: string
  readonly engines: readonly string[]
  /** What is left of the engine's dialect, where the way in cannot do all of it. */
  readonly dialectOf?: (engine: string) => Dialect
  readonly connect: (engine: string, url: string, size: number) => Promise<Connected>
}

/** The way, as the laws take it. */
export function subjectThrough(way: OrmWay, engine: string, url: string): Subject {
  const { name, dialectOf, connect } = way
  return {
    title: `${engine} through ${name}`,
    adapter: name,
    dialects: [dialectOf?.(engine) ?? (engine as DialectName)],
    // the dialect lacks what belongs to a connection
    isUnpinned: dialectOf !== undefined,
    connect: (size) => connect(engine, url, size),
  }
}
