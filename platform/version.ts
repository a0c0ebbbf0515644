/** Version of the platform; a test holds it against package.json. */
export const version = '0.19.0'
