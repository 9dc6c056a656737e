/**
 * An empty variable is an unset one: compose files and shells set what they have no value for to the empty string. Each program
 * imports this before all else, since packages read variables too, some while they are imported.
 */
for (const [name, value] of Object.entries(process.env)) if (value === '') delete process.env[name];
