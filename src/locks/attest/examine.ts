import type { Finding, QueueIndex } from '../../core/attestation.ts'
import type { Session } from '../../core/session.ts'
import type { Row, Statement } from '../../core/statement.ts'
import { isAtLeast } from '../../core/version.ts'
import type { Examination, Question } from '../../dialects/tools.ts'
import type { Server } from '../port.ts'
import { throwIfLost } from './attempt.ts'
import { wordsOf } from './verdict.ts'

/** Whom to ask, and as what. */
export interface Examined {
  readonly session: Session
  readonly server: Server
  readonly examination: Examination
}

/** What the server says of itself. A question that it refuses is a finding too. */
export async function examineServer({ session, server, examination }: Examined): Promise<readonly Finding[]> {
  const { dialect, version } = server
  const replies: Record<string, readonly Row[]> = {}
  const unanswered: Finding[] = []
  for (const [name, question] of Object.entries(examination.questions(version))) {
    const answer = await ask(session, server, question.ask)
    if ('rows' in answer) replies[name] = answer.rows
    else unanswered.push(unknown(question, answer.refusal))
  }
  const handle = examination.handle?.(session.tx)
  if (handle !== undefined) replies.handle = [handle]
  const { oldest } = dialect.versions
  const isOld = !isAtLeast(version, dialect.readVersion(oldest))
  return [...(isOld ? [tooOld(server)] : []), ...examination.read(replies, version), ...unanswered]
}

/** Whether claims on these queues find their jobs by an index. */
export async function examineQueues(
  { session, server, examination }: Examined,
  queues: readonly QueueIndex[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const queue of queues) {
    const answer = await ask(session, server, examination.indexes(queue.table))
    if ('rows' in answer) findings.push(...judgeQueue(queue, answer.rows))
    else {
      const question = { unknown: `the indexes of ${JSON.stringify(queue.table)}` }
      findings.push(unknown(question, answer.refusal))
    }
  }
  return findings
}

type Answer = { readonly rows: readonly Row[] } | { readonly refusal: unknown }

async function ask(session: Session, server: Server, statement: Statement): Promise<Answer> {
  try {
    return { rows: await session.run(statement) }
  } catch (refusal) {
    throwIfLost(refusal, server)
    return { refusal }
  }
}

function judgeQueue({ table, columns }: QueueIndex, rows: readonly Row[]): readonly Finding[] {
  if (rows.length === 0) return [noTable(table)]
  const isUsable = (index: unknown): boolean => {
    const parts = rows.filter(({ index_name }) => index_name === index)
    return columns.every((column, place) => parts[place]?.column_name === column)
  }
  const indexes = new Set(rows.map(({ index_name }) => index_name))
  return [...indexes].some(isUsable) ? [] : [noIndex({ table, columns })]
}

function unknown({ unknown: what }: Pick<Question, 'unknown'>, refusal: unknown): Finding {
  return {
    id: 'unknown',
    severity: 'note',
    title: `unknown: ${what}`,
    why: `The server did not say: ${wordsOf(refusal)}`,
    mend: 'Connect as a user that may see it.',
  }
}

function tooOld({ dialect: { title, versions }, version }: Server): Finding {
  return {
    id: 'version-too-old',
    severity: 'error',
    title: `${title} ${version.join('.')} is older than ${versions.oldest}`,
    why: 'Its locks differ from those that Holdfast knows, so every lock is refused.',
    mend: `Use ${title} ${versions.oldest} or newer.`,
  }
}

function noTable(table: string): Finding {
  return {
    id: 'queue-table-missing',
    severity: 'error',
    title: `there is no table ${JSON.stringify(table)}`,
    why: 'A claim on it fails.',
    mend: 'Create the table, or check another database or schema: it has to be found by this name alone.',
  }
}

function noIndex({ table, columns }: QueueIndex): Finding {
  return {
    id: 'queue-index-missing',
    severity: 'warning',
    title: `no index of ${JSON.stringify(table)} begins with ${columns.join(', ')}`,
    why: 'A claim also reads completed jobs, and gets slower with each of them.',
    mend: 'Create the index that locks.adviseIndexes(queue) returns for this database.',
  }
}
