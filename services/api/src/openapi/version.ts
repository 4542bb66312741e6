/** The version of this interface's description. */
export const version = '0.1.0'
