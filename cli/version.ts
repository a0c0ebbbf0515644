/** Version of the command; a test compares it with package.json. */
export const version = '0.12.0'
