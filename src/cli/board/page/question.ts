import type { SessionSeen } from '../../../core/inspection.ts'
import { visible, visibleLines } from '../../../conformance/reporters/visible.ts'
import type { Ending, EndingWay } from '../look.ts'
import { button, element, setText, show } from './dom.ts'

export interface Question {
  readonly node: HTMLDialogElement
  readonly ask: (session: SessionSeen) => void
}

/** Asks before a session is ended, and sends the answer. */
export function endQuestion(ending: () => Ending): Question {
  let asked: SessionSeen | undefined
  const [title, who, said] = [element('h2'), element('p'), element('p', { class: 'problem', role: 'alert' })]
  const statement = element('code', { class: 'statement' })
  const send = async (way: EndingWay): Promise<void> => {
    setText(said, '')
    const problem = asked && (await order(asked.id, way))
    if (problem === undefined) node.close()
    else setText(said, problem)
  }
  const leave = button('Leave it', () => node.close(), { class: 'leave', autofocus: '' })
  const cancel = button('Cancel its statement', () => void send('cancel'), {
    class: 'danger',
    'data-way': 'cancel',
  })
  const end = button('End the session', () => void send('end'), { class: 'danger', 'data-way': 'end' })
  const node = element('dialog', { 'aria-labelledby': 'question-title' })
  title.id = 'question-title'
  node.append(title, who, statement, said, element('div', { class: 'answers' }, leave, cancel, end))
  return {
    node,
    ask: (session) => {
      asked = session
      setText(said, '')
      setText(title, `End session ${visible(session.id)}?`)
      setText(who, factsOf(session))
      setText(statement, visibleLines(session.statement ?? ''))
      show(cancel, ending().ways.includes('cancel'))
      show(end, ending().ways.includes('end'))
      node.showModal()
      leave.focus()
    },
  }
}

function factsOf({ application, user, holds, waits }: SessionSeen): string {
  const who = [application, user === undefined ? undefined : `as ${user}`].flatMap((text) => text ?? [])
  const held = `holds ${holds.length} ${holds.length === 1 ? 'lock' : 'locks'}`
  const name = who.length === 0 ? 'It' : visible(who.join(' '))
  return `${name} ${held}${waits === undefined ? '' : ' and waits for another'}. What it has not committed is rolled back when it ends.`
}

/** Undefined when it was done, else why not. */
async function order(id: string, way: EndingWay): Promise<string | undefined> {
  try {
    const response = await fetch('end', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token()}` },
      body: JSON.stringify({ id, way }),
    })
    return response.ok ? undefined : (await response.text()).trim()
  } catch {
    return 'the board itself does not answer'
  }
}

/** It is a part of the address that this page was opened by. */
function token(): string {
  return location.pathname.split('/')[1] ?? ''
}
