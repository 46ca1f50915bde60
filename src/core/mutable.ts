/** The same with fields that can be set, for whoever makes one of them field by field. */
export type Mutable<T> = { -readonly [Field in keyof T]: T[Field] }
