import { RetryableTransactionError } from '../../core/errors.ts'
import type { Plan } from '../../core/plan.ts'
import { readAnswer, type Answer } from '../../core/statement.ts'
import type { Holder } from './holder.ts'
import { UncertainGrantError } from '../take.ts'

type Runner = Pick<Holder, 'run'>

/** Asks for the lock. Says whether it was granted; false is certain, an error leaves it open. */
export async function take(on: Runner, { beforeBegin }: Plan): Promise<boolean> {
  const answer = await ask(on, beforeBegin)
  if (answer === 'granted' || answer === 'busy') return answer === 'granted'
  if (answer === 'deadlock') {
    throw new RetryableTransactionError(
      'deadlock',
      'the wait for the lock would never have ended: run it again',
    )
  }
  throw new UncertainGrantError('the lock', answer)
}

/** Gives the lock back, and says whether it was there. */
export async function giveBack(on: Runner, { afterEnd }: Plan): Promise<boolean> {
  const answer = await ask(on, afterEnd)
  if (answer === 'released' || answer === 'not-held') return answer === 'released'
  throw new Error(`the server could not take the lock back: its answer means ${answer}`)
}

/** The last answer. A statement that gives none grants by not failing. */
async function ask(on: Runner, statements: Plan['beforeBegin']): Promise<Answer> {
  let answer: Answer = 'failed'
  for (const statement of statements) {
    const rows = await on.run(statement)
    answer = statement.answers === undefined ? 'granted' : readAnswer(statement.answers, rows)
  }
  return answer
}
