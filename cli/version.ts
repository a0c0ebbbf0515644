/** Version of the command; a test holds it against package.json. */
export const version = '0.12.0'
