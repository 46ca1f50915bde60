import type { WholeCourse } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import type { PgBody, BodyClient } from './body.ts'
import type { CancelTarget } from './cancel.ts'
import { wayOf, type RidingClient } from './carry.ts'
import { cancelUntil } from './end-backend.ts'
import { queriesOf, WholeQuery, type WholeEar, type WholeTexts } from './whole.ts'

/** What is used of a client to send a transaction as a whole. */
export interface WholeClient extends BodyClient, RidingClient, CancelTarget {
  readonly connection?: NonNullable<BodyClient['connection']>
}

/** Sends it, unless one of the statements cannot travel so. */
export function sendWhole(
  client: WholeClient,
  body: PgBody<BodyClient>,
  { statements, ...texts }: WholeTexts & { readonly statements: readonly SqlStatement[] },
): WholeCourse | undefined {
  const way = wayOf(client)
  const asked = statements.map(({ sql, params }) => [sql, params] as const)
  const queries = way && queriesOf(client, way, asked)
  if (queries === undefined) return undefined
  const { course, ear } = courseOf(client, body)
  const query = new WholeQuery(client, texts, { queries, ear })
  const mayHaveRun = (): boolean => query.mayHaveRun
  body.begin()
  for (const [text, values] of asked) body.state.sends(text, values)
  body.state.sends('COMMIT')
  // COMMIT is among what is sent
  body.close()
  client.query(query)
  return { ...course, mayHaveRun }
}

/** What becomes of it, and who is told. */
function courseOf(
  client: CancelTarget,
  body: PgBody<BodyClient>,
): { readonly course: Omit<WholeCourse, 'mayHaveRun'>; readonly ear: WholeEar } {
  const begun = promised<readonly Row[]>()
  const locked = promised<void>()
  const stored = promised<readonly (readonly Row[])[]>()
  const ended: WholeEar['ended'] = (results, tag) => {
    body.state.succeeded()
    body.committed(tag)
    stored.resolve(results.map(rowsIn))
  }
  const failed: WholeEar['failed'] = (error) => {
    for (const { reject } of [begun, locked, stored]) reject(error)
  }
  const over = stored.promise.then(settled, settled)
  return {
    course: {
      begun: begun.promise,
      locked: locked.promise,
      stored: stored.promise,
      cancel: () => void cancelUntil(over, [client]),
    },
    ear: {
      begun: begun.resolve,
      locked: locked.resolve,
      answered: () => body.state.succeeded(),
      ended: (results, tag) => {
        try {
          ended(results, tag)
        } catch (error) {
          failed(error as Error)
        }
      },
      failed,
    },
  }
}

function settled(): void {}

function rowsIn(result: unknown): readonly Row[] {
  return (result as { readonly rows?: readonly Row[] }).rows ?? []
}

interface Promised<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (reason: unknown) => void
}

/** Whoever asks for only one of them has no handler at the others. */
function promised<T>(): Promised<T> {
  let settle: Omit<Promised<T>, 'promise'> | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => {})
  return { promise, resolve: (value) => settle?.resolve(value), reject: (reason) => settle?.reject(reason) }
}
