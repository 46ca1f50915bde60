import type { Target } from '../../src/core/request.ts'
import type { Engine, EngineSession } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import type { Shop } from './shop.ts'

/** Accounts 1 and 2 with 100 each, and a journal in which nothing can be noted twice. */
export async function openAccounts(shop: Shop): Promise<void> {
  await shop.create('account', ['id', 'balance', 'version'])
  await shop.create('journal', ['code', 'amount'])
  for (const id of [1, 2]) await shop.add(undefined, 'account', { id, balance: 100, version: 0 })
}

/** Makes sure that the server holds nothing, and drops the tables. */
export async function closeOut(shop: Shop, engine: Engine): Promise<void> {
  await nothingLeft(shop, engine)
  for (const table of ['account', 'journal']) await shop.drop(table)
}

/** What the server still holds, a line for each. */
export async function leftovers(shop: Shop, engine: Engine): Promise<readonly string[]> {
  return [...(await engine.leftovers()), ...((await shop.leftovers?.()) ?? [])]
}

/** Makes sure that the server shows no lock and no open transaction. */
export async function nothingLeft(shop: Shop, engine: Engine): Promise<void> {
  let lines: readonly string[] = []
  const isClean = async (): Promise<boolean> => {
    lines = await leftovers(shop, engine)
    return lines.length === 0
  }
  await until(isClean, 'an engine on which nothing is left').catch((error: unknown) => {
    throw new Error(`left on the server:\n${lines.join('\n')}`, { cause: error })
  })
}

/** Waits until the server says that this session of a pool waits for a lock. */
export async function untilWaiting(engine: Engine, sessionId: () => string): Promise<void> {
  const seen = (): Promise<boolean> => engine.isWaiting({ id: sessionId() } as EngineSession) // it looks at no more
  await until(seen, 'a session that waits for a lock')
}

/** Ends a session of a pool from the server's side. */
export function endSession(engine: Engine, sessionId: string): Promise<void> {
  return engine.kill({ id: sessionId } as EngineSession)
}

export function account(...ids: readonly number[]): Target {
  return { table: 'account', key: { id: ids } }
}

export interface Posting {
  readonly code: string
  /** What is added to which account. */
  readonly changes: Readonly<Record<number, number>>
}

/** Adds to the balances as the transaction reads them, in the order of the accounts, and notes it. */
export async function post(shop: Shop, tx: unknown, { code, changes }: Posting): Promise<void> {
  for (const [id, change] of Object.entries(changes)) {
    const [row] = await shop.find(tx, account(Number(id)))
    await shop.change(tx, account(Number(id)), { balance: Number(row?.balance) + change })
  }
  await shop.add(tx, 'journal', { code, amount: Object.keys(changes).length })
}

export async function balances(shop: Shop): Promise<readonly number[]> {
  const rows = await shop.all('account')
  return rows.toSorted((a, b) => Number(a.id) - Number(b.id)).map(({ balance }) => Number(balance))
}

/** Makes sure that no account was touched, and that none is missing. */
export async function nothingChanged(shop: Shop): Promise<void> {
  const now = await balances(shop)
  if (now.join() !== '100,100') throw new Error(`the balances are ${now.join(' and ')}`)
}

/** What the journal says was done. */
export async function codes(shop: Shop): Promise<readonly string[]> {
  return (await shop.all('journal')).map(({ code }) => String(code)).toSorted()
}
