import { startChild } from './child.ts'

/** A program that goes one way, in a process of its own, and what it is told when it starts. */
export interface Way {
  readonly name: string
  readonly args: readonly string[]
}

/** Tells the program of that way a line. Gives the figure that it answers with. */
export type AskWay = (name: string, line: string) => Promise<number>

/** Starts the program once for each way, for as long as `work` takes. */
export async function withWays<T>(
  program: string,
  ways: readonly Way[],
  work: (ask: AskWay) => Promise<T>,
): Promise<T> {
  const started = ways.map(async ({ name, args }) => [name, await startChild(program, args)] as const)
  const children = new Map(await Promise.all(started))
  try {
    return await work(async (name, line) => Number(await children.get(name)?.ask(line)))
  } finally {
    await Promise.all([...children.values()].map((child) => child.end()))
  }
}
