import type { LeaseSeen } from '../../../core/inspection.ts'
import { visible } from '../../../conformance/reporters/visible.ts'
import { duration } from '../../duration.ts'
import type { QueueSeen } from '../look.ts'
import { element, setClass, setText, type Row } from './dom.ts'
import { cell, sectionOf, type Section } from './section.ts'

export function leasesSection(): Section<LeaseSeen> {
  return sectionOf<LeaseSeen>({
    title: 'Leases',
    id: 'leases',
    columns: ['Lease', 'Owner', 'Time left', 'Fence'],
    keyOf: ({ name }) => name,
    create: leaseRow,
    nothing: 'Nobody holds a lease.',
  })
}

function leaseRow(): Row<LeaseSeen> {
  const [key, owner, left, fence] = [element('strong'), element('span'), element('span'), element('span')]
  const cells = [cell('Lease', key), cell('Owner', owner), cell('Time left', left), cell('Fence', fence)]
  return {
    node: element('tr', {}, ...cells),
    update: (lease) => {
      const { remainingMs } = lease
      setText(key, visible(lease.key))
      setText(
        owner,
        lease.owner === undefined ? 'given back, kept until its time is over' : visible(lease.owner),
      )
      setText(left, remainingMs > 0 ? duration(remainingMs) : `over for ${duration(-remainingMs)}`)
      setClass(left, remainingMs > 0 ? '' : 'over')
      setText(fence, String(lease.fence))
    },
  }
}

export function queuesSection(): Section<QueueSeen> {
  return sectionOf<QueueSeen>({
    title: 'Queues',
    id: 'queues',
    columns: ['Queue', 'Ready', 'Delayed', 'Claimed', 'Dead', 'Oldest job', 'Claims per second'],
    keyOf: ({ name }) => name,
    create: queueRow,
    nothing: 'No queue was named: start the board with --queue.',
  })
}

function queueRow(): Row<QueueSeen> {
  const labels = ['Ready', 'Delayed', 'Claimed', 'Dead', 'Oldest job', 'Claims per second']
  const [name, problem] = [element('strong'), element('div', { class: 'problem' })]
  const figures = labels.map((label) => cell(label))
  return {
    node: element('tr', {}, cell('Queue', name, problem), ...figures),
    update: (queue) => {
      setText(name, visible(queue.name))
      setText(problem, visible(queue.problem ?? ''))
      for (const [index, text] of figuresOf(queue).entries()) {
        const figure = figures[index]
        if (figure !== undefined) setText(figure, text)
      }
    },
  }
}

/** A rate is the least that it can have been, and says so. */
function figuresOf({ counts, hasAge, oldestMs, claimsPerSecond: rate }: QueueSeen): readonly string[] {
  if (counts === undefined) return ['–', '–', '–', '–', '–', '–']
  const { ready, delayed, claimed, dead } = counts
  const oldest = oldestMs === undefined ? (hasAge ? 'none' : 'no storedAt') : duration(oldestMs)
  return [
    ...[ready, delayed, claimed].map((count) => count.toLocaleString('en')),
    dead === undefined ? '–' : dead.toLocaleString('en'),
    oldest,
    rate === undefined ? '–' : `≥ ${rate.toFixed(1)}`,
  ]
}
