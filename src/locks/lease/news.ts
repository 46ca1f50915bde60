/**
 * What those who listen are told of a lease. Hearing it only says who asks first: the row of the lease alone says who
 * holds it, so a message that is lost, late or made up costs a request or a moment, and nothing else.
 */
export type News = Waits | Took | Left | Freed

/** A process has asked, found the lease held, and waits since so long. */
interface Waits extends Told {
  readonly kind: 'waits'
  readonly forMs: number
}

/** One of those who wait has it now. */
interface Took extends Told {
  readonly kind: 'took'
}

/** A process waits no longer. */
interface Left extends Told {
  readonly kind: 'left'
}

/** It is free. Whoever has had it may soon want it again, and stands behind the others, where it is known. */
interface Freed {
  readonly kind: 'freed'
  readonly name: string
  readonly member: string | undefined
}

interface Told {
  readonly name: string
  readonly member: string
}

export function newsText(news: News): string {
  const { kind, member = '', name } = news
  switch (kind) {
    case 'waits':
      return `? ${member} ${Math.round(news.forMs)} ${name}`
    case 'took':
      return `+ ${member} ${name}`
    case 'left':
      return `- ${member} ${name}`
    case 'freed':
      return member === '' ? name : `! ${member} ${name}`
  }
}

const told =
  /^(?:\? (?<waiting>\S+) (?<forMs>\d{1,15})|\+ (?<taker>\S+)|- (?<leaver>\S+)|! (?<giver>\S+)) (?<name>.*)$/s

/** A text in no form of ours is the name of a lease that may be free: some engines can tell no more. */
export function readNews(text: string): News {
  const { waiting, forMs, taker, leaver, giver, name = text } = told.exec(text)?.groups ?? {}
  if (waiting !== undefined) return { kind: 'waits', member: waiting, forMs: Number(forMs), name }
  if (taker !== undefined) return { kind: 'took', member: taker, name }
  if (leaver !== undefined) return { kind: 'left', member: leaver, name }
  return { kind: 'freed', member: giver, name }
}
