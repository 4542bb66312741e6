/** Belfry's version: of the interface's description, of the command line, and in the User-Agent of its calls. */
export const version = '0.1.0'
