import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from './describe-laws.ts'

const chapters = 'R N K T B'.split(' ')

describeLaws(laws.filter(({ id }) => chapters.includes(id.replace(/\d+$/, ''))))
