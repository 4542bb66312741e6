/** A label of a task. It has no comma, because the database stores new labels as one text. */
export const labelForm = /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/

/** The labels that one task may have. */
export const maxLabels = 10
