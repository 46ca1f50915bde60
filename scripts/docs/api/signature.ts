import { declarationOf, nameOf, textOf, type Declaration, type Node } from './source-file.ts'

/** How a declaration is written for its reader: without what it does, and for an interface without its members. */
export function signatureOf({ file, node, name, overloads }: Declaration): string {
  const until = (end: number): string => textOf(file, { start: node.start, end }).trim()
  const { start = node.end } = (node.body ?? {}) as Partial<Node>
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return until(start)
    case 'TSInterfaceDeclaration':
      return isCallable(node) ? until(node.end) : until(start)
    case 'VariableDeclarator': {
      const { typeAnnotation } = node.id as { readonly typeAnnotation?: Node | null }
      const whole = textOf(file, node)
      return typeAnnotation ? `const ${name}${textOf(file, typeAnnotation)}` : `const ${whole}`
    }
    default:
      return [node, ...overloads].map((one) => textOf(file, one)).join('\n')
  }
}

/** An interface that is called, or made with `new`, is nothing without its body. */
export function isCallable({ body }: Node): boolean {
  const { body: members = [] } = (body ?? {}) as { readonly body?: readonly Node[] }
  return members.some(({ type }) => type.startsWith('TSCall') || type.startsWith('TSConstruct'))
}

/** What a member is, on one line: its type, or its parameters and what it gives. */
export function memberType(file: string, member: Node): string {
  const { typeAnnotation, key, value } = member as Node & {
    readonly typeAnnotation?: Node | null
    readonly key?: Node
    readonly value?: Node | null
  }
  if (member.type === 'TSMethodSignature' && key)
    return flat(textOf(file, { start: key.end, end: member.end }))
  if (typeAnnotation) return flat(textOf(file, typeAnnotation).replace(/^:\s*/, ''))
  if (member.type === 'MethodDefinition' && value) {
    const { body, start } = value as Node & { readonly body?: Node | null }
    return flat(textOf(file, { start, end: body?.start ?? value.end }))
  }
  return value ? flat(textOf(file, value)) : ''
}

/** A member of an interface of calls as it is called: `locks.tryLock(key, work, options?)`. */
export function callOf(file: string, member: Node): string {
  const name = nameOf(member.key) ?? ''
  const type = functionType(file, member.typeAnnotation)
  if (type === undefined) throw new Error(`${file}: ${name} is no function`)
  const { node, file: place } = type
  const given = node.returnType as Node
  const head = textOf(place, { start: node.start, end: given.start }).replace(/\s*(?:=>)?\s*$/, '')
  return outdented(`locks.${name}${head}: ${textOf(place, given).replace(/^=>\s*/, '')}`)
}

/** The function that an annotation says, or that the alias says which it names. */
function functionType(
  file: string,
  annotation: unknown,
): { readonly file: string; readonly node: Node } | undefined {
  const node = (annotation as { readonly typeAnnotation?: Node } | undefined)?.typeAnnotation
  if (node?.type === 'TSFunctionType') return { file, node }
  const alias = node && declarationOf(file, nameOf(node.typeName) ?? '')
  return alias && functionType(alias.file, alias.node)
}

function flat(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('( ', '(')
    .replaceAll(', )', ')')
    .trim()
}

/** Lines behind the first stand as deep as the shallowest of them would at the margin. */
export function outdented(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const depth = Math.min(...rest.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)), 80)
  return [first, ...rest.map((line) => line.slice(depth))].join('\n')
}
