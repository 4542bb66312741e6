export const queueNameForm = /^[A-Za-z0-9_-][A-Za-z0-9._:/-]{0,127}$/

/** What a queue's name must be, in a sentence after "must". */
export const queueNameRule = 'be 1 to 128 letters, digits and . _ : / -, and start with a letter, a digit, _ or -'
