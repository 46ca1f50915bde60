import type { Library } from '../transactions/library.ts'
import { drizzleTills } from './drizzle.ts'
import { knexTills } from './knex.ts'
import { prismaTills } from './prisma.ts'
import type { OrmTills, Place, Till } from './till.ts'

/** The ORMs that are measured. */
export const orms: Readonly<Record<string, OrmTills>> = {
  Prisma: prismaTills,
  Drizzle: drizzleTills,
  Knex: knexTills,
}

type Open = (tills: OrmTills, library: Library, place: Place) => Till

/** Each ORM is used in these ways. The first is compared with the third. */
export const ways = {
  holdfast: 'Holdfast',
  riding: 'Holdfast, pipeline: true',
  byHand: 'by hand',
  unlimited: 'by hand, no limit for waiting',
} as const

const opening: Readonly<Record<string, Open>> = {
  [ways.holdfast]: ({ holdfast }, library, place) => holdfast(library, place, {}),
  [ways.riding]: ({ holdfast }, library, place) => holdfast(library, place, { pipeline: true }),
  [ways.byHand]: ({ byHand }, _, place) => byHand(place, true),
  [ways.unlimited]: ({ byHand }, _, place) => byHand(place, false),
}

export function openTill(
  name: { readonly orm: string; readonly way: string },
  library: Library,
  place: Place,
): Till {
  const [tills, open] = [orms[name.orm], opening[name.way]]
  if (tills === undefined || open === undefined) throw new Error(`${name.orm} ${name.way} is no way`)
  return open(tills, library, place)
}
