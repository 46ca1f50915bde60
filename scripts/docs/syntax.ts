import { readFile } from 'node:fs/promises'
import { parseSync } from 'oxc-parser'

import { project } from './place.ts'

/** A class as its file declares it. */
export interface DeclaredClass {
  readonly name: string
  readonly parent: string | undefined
  /** What stands above it, without its decoration. */
  readonly says: string
  /** The words of fields that are set to one. */
  readonly fields: ReadonlyMap<string, string>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** The classes that a file exports. */
export async function classesIn(path: string): Promise<readonly DeclaredClass[]> {
  const text = await readFile(new URL(path, project), 'utf8')
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`)
  return (program.body as unknown as readonly Node[]).flatMap((statement) => {
    const declared = statement.declaration as Node | undefined
    if (declared?.type !== 'ClassDeclaration') return []
    const above = comments.findLast(
      ({ end }) => text.slice(end, statement.start).trim() === '' && end <= statement.start,
    )
    return [
      {
        name: nameOf(declared.id) ?? '',
        parent: nameOf(declared.superClass),
        says: undecorated(above?.value ?? ''),
        fields: fieldsOf(declared),
      },
    ]
  })
}

function nameOf(node: unknown): string | undefined {
  return (node as { readonly name?: string } | null | undefined)?.name
}

function undecorated(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, '').trim())
    .join('\n')
    .trim()
}

function fieldsOf({ body }: Node): ReadonlyMap<string, string> {
  const members = (body as { readonly body: readonly Node[] }).body
  const fields = members.flatMap(({ type, key, value }): [string, string][] => {
    const name = nameOf(key)
    const literal = (value as { readonly value?: unknown } | null | undefined)?.value
    return type === 'PropertyDefinition' && name !== undefined
      ? [[name, typeof literal === 'string' || literal === true ? String(literal) : '']]
      : []
  })
  return new Map(fields)
}
