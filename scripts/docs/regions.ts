/** A part of a page that is written by a program: between `<!-- generated: name args -->` and `<!-- /generated -->`. */
export interface Region {
  readonly name: string
  readonly args: readonly string[]
  /** Where its first marker stands; lines are counted from 1. */
  readonly line: number
  /** Where its last marker stands. */
  readonly end: number
}

const opening = /^<!-- generated:\s*(.*?)\s*-->$/
const closing = /^<!-- \/generated -->$/
/** A marker with a slip in it would be a region that nobody writes, so whatever looks like one has to be one. */
const lookAlike = /^\s*<!--\s*\/?\s*generated\b/i

/** The regions of a page, in their order. Markers inside of a fence are text. Throws where markers do not pair. */
export function regionsOf(page: string, text: string): readonly Region[] {
  const found: Region[] = []
  let open: Omit<Region, 'end'> | undefined
  for (const { line, words } of outsideOfFences(text)) {
    const at = `${page}:${line}`
    const call = opening.exec(words)?.[1]
    if (call !== undefined) {
      if (open !== undefined) throw new Error(`${at}: the region of line ${open.line} is not closed before`)
      const [name = '', ...args] = call.split(/\s+/)
      open = { name, args, line }
    } else if (closing.test(words)) {
      if (open === undefined) throw new Error(`${at}: closes a region that was not opened`)
      found.push({ ...open, end: line })
      open = undefined
    } else if (lookAlike.test(words)) {
      throw new Error(`${at}: write <!-- generated: name --> or <!-- /generated -->, alone on its line`)
    }
  }
  if (open !== undefined)
    throw new Error(`${page}:${open.line}: the region is not closed by <!-- /generated -->`)
  return found
}

interface Line {
  readonly line: number
  readonly words: string
}

function outsideOfFences(text: string): readonly Line[] {
  let fence: string | undefined
  return text.split('\n').flatMap((words, place) => {
    const ticks = /^\s*(`{3,}|~{3,})/.exec(words)?.[1]
    if (fence === undefined && ticks === undefined) return [{ line: place + 1, words }]
    if (fence === undefined) fence = ticks
    else if (ticks?.startsWith(fence) === true && words.trim() === ticks) fence = undefined
    return []
  })
}

/** The page with the text of each region in the place of what is there now. */
export async function fillRegions(
  page: string,
  text: string,
  write: (region: Region) => Promise<string>,
): Promise<string> {
  const lines = text.split('\n')
  const parts: string[] = []
  let kept = 0
  for (const region of regionsOf(page, text)) {
    parts.push(...lines.slice(kept, region.line), '', (await write(region)).trim(), '')
    kept = region.end - 1
  }
  return [...parts, ...lines.slice(kept)].join('\n')
}
