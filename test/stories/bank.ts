import type { Row } from '../../src/core/statement.ts'
import type { Deal } from './deal.ts'
import type { Shop } from './shop.ts'

export const accounts: readonly number[] = [1, 2, 3, 4]
export const openingBalance = 100

export interface Transfer {
  readonly code: string
  readonly from: number
  readonly to: number
  readonly amount: number
}

export async function openBank(shop: Shop): Promise<void> {
  await shop.create('account', ['id', 'balance', 'version'])
  await shop.create('entry', ['code', 'account_id', 'version', 'amount', 'balance'])
  for (const id of accounts) await shop.add(undefined, 'account', { id, balance: openingBalance, version: 0 })
}

/** Moves money when there is enough of it, and notes for both accounts what became of them. Says whether it did. */
export function transfer(shop: Shop, { code, from, to, amount }: Transfer): Deal {
  const move = async (tx: unknown, account: Row, change: number): Promise<void> => {
    const [id, balance, version] = [
      Number(account.id),
      Number(account.balance) + change,
      Number(account.version) + 1,
    ]
    await shop.change(tx, { table: 'account', key: { id } }, { balance, version })
    const entry = { code: `${code}/${id}`, account_id: id, version, amount: change, balance }
    await shop.add(tx, 'entry', entry)
  }
  return {
    writes: 'change',
    look: ({ guarded }) => guarded({ table: 'account', key: { id: [from, to] } }),
    act: async (tx, rows) => {
      const payer = rows.find(({ id }) => Number(id) === from)
      const payee = rows.find(({ id }) => Number(id) === to)
      if (payer === undefined || payee === undefined) throw new Error(`no accounts ${from} and ${to}`)
      if (Number(payer.balance) < amount) return false
      await move(tx, payer, -amount)
      await move(tx, payee, amount)
      return true
    },
  }
}

/** Everything that is wrong with the books; nothing, when no transfer was lost or counted twice. */
export async function auditBank(shop: Shop, done: readonly Transfer[]): Promise<readonly string[]> {
  const [rows, entries] = [await shop.all('account'), await shop.all('entry')]
  const wrong = rows.flatMap((account) => auditAccount(account, entries))
  const total = rows.reduce((sum, { balance }) => sum + Number(balance), 0)
  if (total !== accounts.length * openingBalance) wrong.push(`there are ${total} in all`)
  const expected = done.flatMap(({ code, from, to }) => [`${code}/${from}`, `${code}/${to}`]).toSorted()
  const noted = entries.map(({ code }) => String(code)).toSorted()
  if (expected.join() !== noted.join())
    wrong.push('the entries are not those of the transfers that were reported')
  return wrong
}

function auditAccount(account: Row, entries: readonly Row[]): string[] {
  const wrong: string[] = []
  const own = entries
    .filter(({ account_id }) => Number(account_id) === Number(account.id))
    .toSorted((a, b) => Number(a.version) - Number(b.version))
  let balance = openingBalance
  for (const [index, entry] of own.entries()) {
    balance += Number(entry.amount)
    if (Number(entry.version) !== index + 1)
      wrong.push(`account ${String(account.id)}: version ${String(entry.version)} is entry ${index + 1}`)
    if (Number(entry.balance) !== balance)
      wrong.push(`account ${String(account.id)}: an entry says ${String(entry.balance)}, not ${balance}`)
    if (balance < 0) wrong.push(`account ${String(account.id)} had ${balance}`)
  }
  if (Number(account.balance) !== balance)
    wrong.push(`account ${String(account.id)} has ${String(account.balance)}, not ${balance}`)
  return wrong
}
