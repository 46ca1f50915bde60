import { mariadbRules } from '../mysql/doctor-settings.ts'
import { examinationBy } from '../mysql/doctor.ts'
import type { Examination } from '../tools.ts'

export const examination: Examination = examinationBy(mariadbRules)
