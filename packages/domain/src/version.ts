/** Belfry's version, in the OpenAPI document, the CLI and the User-Agent of requests. */
export const version = '0.3.0-dev'
