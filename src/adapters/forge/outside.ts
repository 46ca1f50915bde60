import type { Row, SqlStatement } from '../../core/statement.ts'
import { held, type ForgeBegin } from './client.ts'
import { levelNames } from './level.ts'
import { rawOn } from './raw.ts'
import { sendReadable } from './readable.ts'
import type { ForgeTraits } from './traits.ts'

interface Waiting {
  readonly statement: SqlStatement
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
}

interface Outside {
  readonly client: object
  readonly traits: ForgeTraits
  readonly limits: ForgeBegin
}

/**
 * Sends statements that are not of a transaction.
 *
 * The client gives each of them any connection that it has. Those that are asked for together belong together, as one
 * that asks how many rows the one before has changed: they have a transaction. Where the client has one connection for
 * all, a statement on its own would become a part of what somebody else has open there, so it has one too.
 */
export function outsideOf({
  client,
  traits,
  limits,
}: Outside): (statement: SqlStatement) => Promise<readonly Row[]> {
  let together: Waiting[] | undefined
  const flush = async (all: readonly Waiting[]): Promise<void> => {
    const [only, second] = all
    if (only !== undefined && second === undefined && !traits.isOneConnection)
      return only.resolve(await sendReadable(rawOn(client), only.statement, traits))
    const level = levelOf(only?.statement)
    const { tx, commit, rollback } = await held(client, { ...limits, ...level })
    const answers: (readonly Row[])[] = level === undefined ? [] : [[]]
    try {
      for (const { statement } of all.slice(answers.length))
        answers.push(await sendReadable(rawOn(tx), statement, traits))
    } catch (error) {
      await rollback()
      throw error
    }
    await commit()
    for (const [index, { resolve }] of all.entries()) resolve(answers[index] ?? [])
  }
  return (statement) =>
    new Promise((resolve, reject) => {
      const isFirst = together === undefined
      const all = (together ??= [])
      all.push({ statement, resolve, reject })
      if (!isFirst) return
      queueMicrotask(() => {
        together = undefined
        flush(all).catch((error: unknown) => {
          for (const waiting of all) waiting.reject(error)
        })
      })
    })
}

const setLevel = /^SET TRANSACTION ISOLATION LEVEL ([A-Z ]+)$/

/** A level that is set for the statement behind it, which has a transaction here: the client is told of it instead. */
function levelOf(first: SqlStatement | undefined): Pick<ForgeBegin, 'isolationLevel'> | undefined {
  const level = first && setLevel.exec(first.sql)?.[1]?.toLowerCase()
  if (level === undefined) return undefined
  return { isolationLevel: levelNames[level as keyof typeof levelNames] }
}
