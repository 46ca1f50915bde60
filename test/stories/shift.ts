import { transfer, type Transfer } from './bank.ts'
import { locked, unlocked, type Deal } from './deal.ts'
import { buy, type Purchase } from './last-item.ts'
import { upload, type Upload } from './quota.ts'
import type { Driver, Shop } from './shop.ts'
import { order, type Order } from './store-room.ts'

/** What one worker has to do, one after the other. */
export type Task =
  | { readonly story: 'transfer'; readonly work: readonly Transfer[] }
  | { readonly story: 'order'; readonly work: readonly Order[] }
  | { readonly story: 'buy'; readonly work: readonly Purchase[] }
  | { readonly story: 'upload'; readonly work: readonly Upload[] }

/** What the workers of one process have to do, all at the same time. It is sent to the process, so it is plain data. */
export interface Shift {
  readonly tasks: readonly Task[]
  readonly withoutLock: boolean
}

/** Which of its deals each worker could close. */
export type Outcomes = readonly (readonly boolean[])[]

export interface Workplace {
  readonly shop: Shop
  readonly driver: Driver
  /** Where all the workers of all processes wait for each other. */
  readonly meet: () => Promise<void>
}

/** Does the work. Every deal has a start gun of its own: the workers meet before each of them. */
export function runShift(place: Workplace, { tasks, withoutLock }: Shift): Promise<Outcomes> {
  const { shop, meet } = place
  const close = (deal: Deal): Promise<boolean> =>
    withoutLock ? unlocked(shop, deal, { controls: place.driver.controls, meet }) : locked(shop, deal)
  const runTask = async (task: Task): Promise<readonly boolean[]> => {
    const outcomes: boolean[] = []
    for (const deal of dealsOf(shop, task)) {
      await meet()
      outcomes.push(await close(deal))
    }
    return outcomes
  }
  return Promise.all(tasks.map(runTask))
}

function dealsOf(shop: Shop, task: Task): readonly Deal[] {
  if (task.story === 'transfer') return task.work.map((one) => transfer(shop, one))
  if (task.story === 'order') return task.work.map((one) => order(shop, one))
  if (task.story === 'upload') return task.work.map((one) => upload(shop, one))
  return task.work.map((one) => buy(shop, one))
}
