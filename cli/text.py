"""All that the command says, in English and in Spanish.

Each message is a pair, so that neither language can lack one; the tests compare their placeholders. What programs
read (``--json``, codes, reasons, field names) is the same in every language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from arrastre.errors import ArrastreError, Fault

LANGUAGES: Final = ("es", "en")


class Message(NamedTuple):
    """One message in both languages, with the same ``str.format`` placeholders in each."""

    en: str
    es: str


MESSAGES: Final[dict[str, Message]] = {
    # Help.
    "help.usage": Message("Usage: ", "Uso: "),
    "help.options": Message("Options", "Opciones"),
    "help.commands": Message("Commands", "Órdenes"),
    "help.help": Message("Show this help and leave.", "Muestra esta ayuda y termina."),
    "help.version": Message("Show the version and leave.", "Muestra la versión y termina."),
    "help.main": Message(
        "Exact analysis of Guiñote: what every legal action is worth when nothing is hidden, and the best play.",
        "Análisis exacto de guiñote: cuánto vale cada jugada legal a cartas vistas, y el mejor juego.",
    ),
    "help.main.more": Message(
        "A POSITION is a file, a position written on one line, a JSON object, or - for standard input. Files and "
        "standard input hold any number of positions: one on each line, JSON lines, JSON arrays; lines that begin "
        "with # are notes. They may hold RECORDs of deals as well, as text or as JSON.",
        "Una POSICIÓN es un fichero, una posición escrita en una línea, un objeto JSON, o - para la entrada estándar. "
        "Los ficheros y la entrada estándar contienen cuantas posiciones se quiera: una por línea, líneas JSON, "
        "listas JSON; las líneas que empiezan por # son notas. También pueden contener REGISTROS de repartos, en texto "
        "o en JSON.",
    ),
    "help.command": Message("COMMAND ...", "ORDEN ..."),
    "help.options_metavar": Message("[OPTIONS]", "[OPCIONES]"),
    "help.name": Message("NAME", "NOMBRE"),
    "help.item": Message("POSITION|RECORD...", "POSICIÓN|REGISTRO..."),
    "help.record": Message("RECORD...", "REGISTRO..."),
    "help.ruleset": Message("[NAME]...", "[NOMBRE]..."),
    "help.solve": Message(
        "Give the exact value of every legal action, and a line of best play.",
        "Da el valor exacto de cada jugada legal y una línea de juego óptimo.",
    ),
    "help.solve.more": Message(
        "Values are the final margin of the deal for the side that acts, points already made included and all tricks "
        "played, whoever wins the game by then; with --objective game, whether it wins the game. A "
        "recorded deal is solved before the decision that --at names, or, with --line, before each action that was "
        "played in it. Exit status: 0, 1 if any item failed, 2 for bad usage, 130 if interrupted.",
        "Los valores son la diferencia final de tantos del reparto para el bando que juega, con lo ya hecho y jugadas "
        "todas las bazas, gane quien gane antes la partida; con --objective game, si gana la partida. Un "
        "reparto registrado se resuelve antes de la decisión que dice --at, o, con --line, antes de cada jugada que se "
        "hizo en él. Estado de salida: 0; 1 si falló algún elemento; 2 por mal uso; 130 si se interrumpió.",
    ),
    "help.best": Message(
        "Estimate the best action for a seat that does not see every card.",
        "Estima la mejor jugada de quien no ve todas las cartas.",
    ),
    "help.best.more": Message(
        "Looks at worlds, the ways in which the unseen cards can lie: at all of them when they are few, otherwise at a "
        "fair sample; every action is tried in the same ones. In a record (--at says where) all that happened before "
        "tells where cards can be; of a position with every card known, a seat knows what it would see. Values are "
        "means of the final margin for the seat's side or, with --objective game, chances to win the game. On a "
        "terminal a table grows meanwhile, and Ctrl-C ends it with what has been found. Exit status: 0, 1 if any item "
        "failed, 2 for bad usage, 130 if interrupted.",
        "Examina mundos, las maneras en que pueden estar las cartas que no se ven: todos cuando son pocos; si no, una "
        "muestra al azar. Cada jugada se prueba en los mismos. En un registro (--at dice dónde), lo ocurrido antes "
        "dice dónde puede haber cada carta; de una posición a cartas vistas, un asiento sabe lo que vería. Los valores "
        "son medias de la diferencia final para el bando del asiento o, con --objective game, probabilidades de ganar "
        "la partida. En una terminal se ve crecer la tabla, y Ctrl-C la acaba con lo que haya. Estado de salida: 0; 1 "
        "si falló algún elemento; 2 por mal uso; 130 si se interrumpió.",
    ),
    "help.seat": Message("SEAT", "ASIENTO"),
    "help.show": Message(
        "Lay positions out as people see them, with the legal actions; deals with every trick.",
        "Dibuja las posiciones como se ven en la mesa, con las jugadas legales; los repartos, baza a baza.",
    ),
    "help.show.more": Message(
        "With --json, write them in the canonical JSON form.",
        "Con --json, las escribe en la forma canónica de JSON.",
    ),
    "help.check": Message(
        "Check recorded deals against the rules, and score them.",
        "Comprueba los repartos registrados según el reglamento y los puntúa.",
    ),
    "help.check.more": Message(
        "Prints the points of each deal, and how games and cotos stand; faults on stderr, with line and column. The "
        "input may be of any length. With --ruleset auto each game is judged by the first ruleset that allows all "
        "its deals, that of the game before coming first. Exit status: 1 if any deal has faults.",
        "Escribe los tantos de cada reparto y cómo van partidas y cotos; los fallos, por stderr, con línea y columna. "
        "La entrada puede ser tan larga como se quiera. Con --ruleset auto se juzga cada partida con el primer "
        "reglamento que permita todos sus repartos, empezando por el de la partida anterior. Estado de salida: 1 si "
        "algún reparto tiene fallos.",
    ),
    "help.rules": Message(
        "List the rulesets, or show all fields of one.",
        "Enumera los reglamentos, o muestra todos los campos de uno.",
    ),
    "help.rules.more": Message(
        "What differs from the game's default ruleset is marked.",
        "Se marca lo que difiere del reglamento por defecto del juego.",
    ),
    "help.convert": Message(
        "Make a record of logs that another program wrote.",
        "Convierte en registro lo que anotó otro programa.",
    ),
    "help.convert.more": Message(
        "A LOG is a file, or - for standard input; the template, in TOML, says how it is written. Every deal is "
        "replayed: those with faults are reported on standard error, with line and column of the log, and the others "
        "go on. Exit status: 0, 1 if any deal has faults, 2 for bad usage or a bad template.",
        "Un REGISTRO AJENO es un fichero, o - para la entrada estándar; la plantilla, en TOML, dice cómo está escrito. "
        "Se rehace cada reparto: los que tienen fallos se anuncian por stderr, con línea y columna, y los demás "
        "siguen. Estado de salida: 0; 1 si algún reparto tiene fallos; 2 por mal uso o una plantilla con fallos.",
    ),
    "help.log": Message("LOG...", "REGISTRO-AJENO..."),
    "help.template": Message("TEMPLATE", "PLANTILLA"),
    "help.file": Message("FILE", "FICHERO"),
    "help.engine": Message(
        "Answer questions that come as JSON lines.", "Responde a preguntas que llegan en líneas JSON."
    ),
    "help.engine.more": Message(
        "For programs: each line of standard input is a question with an id, each gets exactly one answer on standard "
        "output. docs/service.md describes them. At the end of the input what was asked is still answered.",
        "Para programas: cada línea de la entrada estándar es una pregunta con un id, y cada una recibe exactamente "
        "una respuesta en la salida estándar. docs/service.md las describe. Al acabar la entrada aún se responde a lo "
        "pedido.",
    ),
    "help.serve": Message("Answer over gRPC until told to stop.", "Responde por gRPC hasta que se le mande parar."),
    "help.serve.more": Message(
        "Listens on the loopback interface unless told otherwise; SIGTERM and Ctrl-C let calls in flight end. Each "
        "option may stand in the environment instead: ARRASTRE_SERVE_PORT for --port. The log is JSON lines on "
        "standard error.",
        "Escucha en la interfaz local si no se dice otra cosa; SIGTERM y Ctrl-C dejan terminar las llamadas en curso. "
        "Cada opción puede estar también en el entorno: ARRASTRE_SERVE_PORT por --port. El registro son líneas JSON en "
        "la salida de errores.",
    ),
    "option.lang": Message(
        "Language of all that people read: es or en (by default, as the environment says).",
        "Idioma de todo lo que lee una persona: es o en (por defecto, el del entorno).",
    ),
    "option.json": Message(
        "Print one JSON object for each item, in the order of the input.",
        "Escribe un objeto JSON por elemento, en el orden de la entrada.",
    ),
    "option.objective": Message(
        "points: the final margin of the deal (default). game: who wins the game.",
        "points: la diferencia final del reparto (por defecto). game: quién gana la partida.",
    ),
    "option.then": Message(
        "What if: do these first, separated by commas: cards, cante O, cambio, tute, pass.",
        "Y si...: hace antes estas jugadas, separadas por comas: cartas, cante O, cambio, tute, pass.",
    ),
    "option.want": Message(
        "all: every action's value (default). best: exact for the best actions only. value: the position's value only.",
        "all: el valor de cada jugada (por defecto). best: exacto solo las mejores. value: solo el de la posición.",
    ),
    "option.line": Message(
        "Give the line of best play (default), or not. For a record without --at: value every action that was played.",
        "Da la línea óptima (por defecto), o no. En un registro sin --at: valora cada jugada que se hizo.",
    ),
    "option.at": Message(
        "For records: the decision that is meant, as in 7.2 (trick 7, second card), 7.0.1 (the first decision before "
        "trick 7), 3/7.2 (in deal 3; otherwise in every deal).",
        "Para registros: de qué decisión se trata, como 7.2 (baza 7, segunda carta), 7.0.1 (la primera decisión antes "
        "de la baza 7), 3/7.2 (en el reparto 3; si no, en todos).",
    ),
    "option.threads": Message(
        "Solve this many positions at once (default 1).", "Posiciones a la vez (por defecto, 1)."
    ),
    "option.nodes": Message(
        "Stop each search after this many positions looked at (default 50 million; 2 million along a played line).",
        "Corta cada búsqueda tras examinar tantas posiciones (por defecto, 50 millones; 2 en una línea jugada).",
    ),
    "option.seconds": Message(
        "Stop each search after this many seconds (default: never).",
        "Corta cada búsqueda al cabo de tantos segundos (por defecto, nunca).",
    ),
    "option.stats": Message("Add times and nodes.", "Añade tiempos y nodos."),
    "option.seat": Message(
        "Whose decision it is: 0, 1, … or the name on the table, as N (default: whose turn it is).",
        "De quién es la decisión: 0, 1, … o el nombre en la mesa, como N (por defecto, de quien tiene el turno).",
    ),
    "option.view": Message(
        "clairvoyant: from then on everybody sees all cards. informed: everybody goes on by what it sees until "
        "the last tricks, then by all cards. The default is the one that plays better.",
        "clairvoyant: desde ahí todos ven todas las cartas. informed: cada cual sigue con lo que ve hasta las "
        "últimas bazas; luego, a cartas vistas. Por defecto, la que mejor juega.",
    ),
    "option.both": Message(
        "Estimate by the other view as well; the gap tells how much depends on guessing.",
        "Estima también con la otra vista; la diferencia dice cuánto depende de adivinar.",
    ),
    "option.worlds": Message(
        "Look at no more worlds than this (default 256; with --seconds, as many as there is time for).",
        "No examina más mundos que estos (por defecto, 256; con --seconds, cuantos dé tiempo).",
    ),
    "option.best_seconds": Message(
        "Stop after this many seconds for each estimate (default: never).",
        "Se para al cabo de tantos segundos por estimación (por defecto, nunca).",
    ),
    "option.best_nodes": Message(
        "How many positions the exact search may look at in each world.",
        "Cuántas posiciones puede examinar la búsqueda exacta en cada mundo.",
    ),
    "option.seed": Message(
        "The sample's seed: the same one gives the same answer (default 1).",
        "La semilla de la muestra: con la misma sale la misma respuesta (por defecto, 1).",
    ),
    "option.best_threads": Message(
        "Look at this many worlds at once (default 1); the answer is the same.",
        "Mundos a la vez (por defecto, 1); la respuesta es la misma.",
    ),
    "option.where": Message(
        "Say how likely each unseen card is where.", "Dice con qué probabilidad está dónde cada carta que no se ve."
    ),
    "option.why": Message(
        "Compare the best action with every other one, and not only with the next.",
        "Compara la mejor jugada con todas las demás, y no solo con la siguiente.",
    ),
    "option.best_stats": Message("Add times.", "Añade tiempos."),
    "option.ruleset": Message(
        "The ruleset of items that name none; auto: for records, the one that fits.",
        "El reglamento de los elementos que no nombran ninguno; auto: en los registros, el que cuadre.",
    ),
    "option.rules": Message(
        "Override a field of the rules, as in undertrump=forced; may be given more than once, or with commas.",
        "Cambia un campo del reglamento, como undertrump=forced; puede repetirse, o llevar comas.",
    ),
    "option.progress": Message(
        "Progress on stderr: auto (if it is a terminal, default), json (lines for programs) or none.",
        "Progreso por stderr: auto (si es una terminal, por defecto), json (líneas para programas) o none.",
    ),
    "option.players": Message("Number of players (default 4).", "Número de jugadores (por defecto, 4)."),
    "option.from": Message(
        "The template that says how the logs are written.", "La plantilla que dice cómo están escritos."
    ),
    "option.output": Message(
        "Write the record to this file, when all has been read.", "Escribe el registro en este fichero, al acabar."
    ),
    "option.convert_json": Message(
        "Report faults as JSON on standard output, in the order of the deals, which are then JSON too (unless -o).",
        "Anuncia los fallos como JSON por la salida estándar, entre los repartos, que sin -o van también así.",
    ),
    "option.to": Message(
        "text: as people read records (default). json: one JSON object for each deal.",
        "text: como lo lee una persona (por defecto). json: un objeto JSON por reparto.",
    ),
    "option.serve_host": Message(
        "Address to listen on (default 127.0.0.1).",
        "Dirección en que escucha (127.0.0.1).",
    ),
    "option.serve_port": Message(
        "Port to listen on (default 50051; 0 takes a free one).",
        "Puerto en que escucha (por defecto, 50051; 0 toma uno libre).",
    ),
    "option.serve_threads": Message(
        "Searches at once (default: one for each processor).",
        "Búsquedas a la vez (por defecto, una por procesador).",
    ),
    "option.serve_memory_mb": Message(
        "Memory of each thread's table, in MiB (default 16).",
        "Memoria de la tabla de cada hilo, en MiB (por defecto, 16).",
    ),
    "option.serve_waiting": Message(
        "So many requests may wait for a thread (default 256).",
        "Cuántas peticiones pueden esperar un hilo (por defecto, 256).",
    ),
    "option.serve_queue_seconds": Message(
        "Together they may be reckoned to take so long (default 60).",
        "Cuánto pueden durar juntas, según lo previsto (por defecto, 60).",
    ),
    "option.serve_streams": Message(
        "Calls that stream, at once (default 64).",
        "Llamadas con flujo a la vez (por defecto, 64).",
    ),
    "option.serve_max_seconds": Message(
        "The most that one request gets (default 60).",
        "Lo más que se da a una petición (por defecto, 60).",
    ),
    "option.serve_max_worlds": Message(
        "The most worlds of one request (default 16384).",
        "Los mundos que puede pedir una petición (por defecto, 16384).",
    ),
    "option.serve_max_nodes": Message(
        "The most nodes of one request.",
        "Los nodos que puede pedir una petición.",
    ),
    "option.serve_max_message_bytes": Message(
        "The longest message (default 1048576).",
        "El mensaje más largo (por defecto, 1048576).",
    ),
    "option.serve_grace": Message(
        "Seconds that calls in flight get at the end (default 0.5).",
        "Segundos que se dan al final a las llamadas en curso (0,5).",
    ),
    "option.serve_tls_cert": Message(
        "The server's certificate, in PEM: calls are then encrypted.",
        "Certificado del servidor, en PEM: las llamadas van cifradas.",
    ),
    "option.serve_tls_key": Message(
        "Its key, in PEM.",
        "Su clave, en PEM.",
    ),
    "option.serve_client_ca": Message(
        "Callers must show a certificate that this one (PEM) has signed.",
        "Quien llame debe mostrar un certificado firmado por este (PEM).",
    ),
    "option.serve_tokens": Message(
        "A file of bearer tokens, `name token` on each line; SIGHUP reads it again.",
        "Fichero de credenciales, `nombre credencial` en cada línea; SIGHUP lo vuelve a leer.",
    ),
    "option.serve_insecure": Message(
        "Listen beyond loopback without encryption.",
        "Escucha fuera de la máquina sin cifrar.",
    ),
    "option.serve_metrics_port": Message(
        "Metrics for Prometheus on this port (needs arrastre[metrics]).",
        "Métricas para Prometheus en este puerto (necesita arrastre[metrics]).",
    ),
    "option.serve_otel": Message(
        "Send traces by OpenTelemetry (needs arrastre[otel]).",
        "Envía trazas por OpenTelemetry (necesita arrastre[otel]).",
    ),
    # Bad usage.
    "usage.text_and_json": Message(
        "--json writes the deals as JSON; -o says where they go as text",
        "--json escribe los repartos como JSON; con -o se dice adónde van como texto",
    ),
    "usage.see": Message("see {command} --help", "véase {command} --help"),
    "usage.no_option": Message("there is no option {name}", "no hay ninguna opción {name}"),
    "usage.perhaps": Message("perhaps {names}?", "¿quizá {names}?"),
    "usage.no_command": Message("there is no command '{name}'", "no hay ninguna orden '{name}'"),
    "usage.missing": Message("{name} is missing", "falta {name}"),
    "usage.needs_value": Message("{name} needs a value", "{name} necesita un valor"),
    "usage.takes_no_value": Message("{name} takes no value", "{name} no lleva valor"),
    "usage.extra": Message("too many arguments: {name}", "sobran argumentos: {name}"),
    "usage.bad_value": Message("{name}: {message}", "{name}: {message}"),
    "usage.one_of": Message("'{value}' is none of {names}", "'{value}' no es ninguno de {names}"),
    "usage.whole": Message(
        "'{value}' is no whole number from {low} to {high}", "'{value}' no es un número entero de {low} a {high}"
    ),
    "usage.seconds": Message(
        "'{value}' is no number of seconds above 0", "'{value}' no es un número de segundos mayor que 0"
    ),
    "usage.then": Message(
        "'{value}' is no list of actions separated by commas",
        "'{value}' no es una lista de jugadas separadas por comas",
    ),
    "usage.at": Message(
        "'{value}' is no address; 7.2 is the second card of trick 7, 3/7.2 that of deal 3",
        "'{value}' no es ninguna dirección; 7.2 es la segunda carta de la baza 7, 3/7.2 la del reparto 3",
    ),
    "usage.no_rule": Message(
        "rulesets have no field '{field}'; arrastre rules NAME lists them",
        "los reglamentos no tienen el campo '{field}'; arrastre rules NOMBRE los enumera",
    ),
    "usage.rule_value": Message(
        "{field} cannot be '{value}'; it may be {values}", "{field} no puede ser '{value}'; puede ser {values}"
    ),
    "usage.no_ruleset": Message(
        "there is no ruleset '{name}'; there are {names}", "no hay ningún reglamento '{name}'; hay {names}"
    ),
    "usage.or": Message(" or ", " o "),
    "usage.rule": Message("'{value}' is not of the form field=value", "'{value}' no tiene la forma campo=valor"),
    # Running.
    # Grades.
    "help.archive": Message("RECORD|FOLDER...", "REGISTRO|CARPETA..."),
    "help.grade": Message(
        "Judge every decision of recorded deals, and tell skill from luck.",
        "Juzga cada decisión de los repartos registrados y separa el acierto de la suerte.",
    ),
    "help.grade.more": Message(
        "Takes files, folders, patterns and standard input (-), compressed or not. A decision is judged on what its "
        "player could know, over the ways in which the hidden cards could lie, and in hindsight, with all cards seen; "
        "effort quick does the second alone. Prints the decisions of a single deal and a table of players; with -o "
        "every decision becomes a row of a file, and what is graded is kept beside it in a folder (.parts), so that "
        "--resume goes on after an interruption and grades no more than what is new. Exit status: 0, 1 if any deal "
        "had faults or something could not be read or written, 2 for bad usage, 130 if interrupted.",
        "Acepta ficheros, carpetas, patrones y la entrada estándar (-), comprimidos o no. Una decisión se juzga por lo "
        "que su jugador podía saber, sobre las maneras en que podían estar las cartas ocultas, y a posteriori, a "
        "cartas vistas; el esfuerzo quick hace solo lo segundo. Escribe las decisiones de un único reparto y una tabla "
        "de jugadores; con -o cada decisión es una fila de un fichero, y lo ya juzgado se guarda junto a él en una "
        "carpeta (.parts), de modo que --resume sigue tras una interrupción y solo juzga lo nuevo. Estado de salida: "
        "0; 1 si algún reparto tenía faltas o algo no se pudo leer o escribir; 2 por mal uso; 130 si se interrumpió.",
    ),
    "option.grade_output": Message(
        "Write a row for each decision to this file, by its ending .jsonl, .csv or .parquet.",
        "Escribe una fila por decisión en este fichero: .jsonl, .csv o .parquet según acabe.",
    ),
    "option.effort": Message(
        "quick: hindsight only; normal (default): 256 to 1024 worlds a decision; deep: 1024 to 16384.",
        "quick: solo a posteriori; normal (por defecto): de 256 a 1024 mundos por decisión; deep: de 1024 a 16384.",
    ),
    "option.jobs": Message(
        "Grade in so many processes (default 1; with --ray, one a processor); the output is the same.",
        "Juzga en tantos procesos (por defecto, 1; con --ray, uno por procesador); la salida es la misma.",
    ),
    "option.ray": Message(
        "Grade on the Ray cluster at this address, in --jobs workers or one on each processor; without an address, on "
        "a cluster that is started here for the run. Needs arrastre[ray].",
        "Juzga en el clúster de Ray de esta dirección, con --jobs procesos o uno por procesador; sin dirección, en un "
        "clúster que se arranca aquí para la ocasión. Necesita arrastre[ray].",
    ),
    "option.server": Message(
        "Have the service at this address do the work (HOST:PORT); the output is the same.",
        "Que haga el trabajo el servicio de esta dirección (HOST:PUERTO); la salida es la misma.",
    ),
    "option.token_file": Message(
        "With --server: a file with the bearer token to show.",
        "Con --server: un fichero con la credencial que hay que mostrar.",
    ),
    "option.ca": Message(
        "With --server: call over TLS, trusting the certificates of this file (PEM).",
        "Con --server: llama con TLS y confía en los certificados de este fichero (PEM).",
    ),
    "usage.stats_server": Message(
        "--stats is measured where the work is done, not with --server",
        "--stats se mide donde se hace el trabajo, no con --server",
    ),
    "usage.jobs_server": Message(
        "--server and --ray are two ways to have others do the work", "--server y --ray son dos maneras de delegar"
    ),
    "usage.no_server": Message("cannot read {name}: {reason}", "no se puede leer {name}: {reason}"),
    "option.resume": Message(
        "Go on from what an earlier run with this output has graded.",
        "Sigue desde lo que juzgó una ejecución anterior con esta salida.",
    ),
    "option.anew": Message(
        "Throw away what an earlier run with this output has graded.",
        "Desecha lo que juzgó una ejecución anterior con esta salida.",
    ),
    "option.anonymous": Message(
        "Replace the players' names by pseudonyms, always the same for a name.",
        "Sustituye los nombres de los jugadores por seudónimos, siempre el mismo para cada nombre.",
    ),
    "option.secret": Message(
        "With --anonymous: a secret without which nobody can find out whose pseudonym one is by trying names.",
        "Con --anonymous: un secreto sin el que nadie puede averiguar de quién es un seudónimo probando nombres.",
    ),
    "option.top": Message(
        "List so many players in the table, those with most decisions (default 20).",
        "Muestra en la tabla tantos jugadores, los de más decisiones (por defecto, 20).",
    ),
    "option.shard": Message(
        "Write what is graded to disk after so many deals (default: 64 for quick, 2 for normal, 1 for deep).",
        "Guarda en disco lo juzgado cada tantos repartos (por defecto: 64 en quick, 2 en normal, 1 en deep).",
    ),
    "option.grade_json": Message(
        "Print one JSON object for each deal; with -o, one object with the table.",
        "Escribe un objeto JSON por reparto; con -o, un objeto con la tabla.",
    ),
    "grade.form": Message(
        "what {name} should be is not clear: it must end in {forms}",
        "no está claro qué debe ser {name}: tiene que acabar en {forms}",
    ),
    "grade.resume_anew": Message("--resume and --anew contradict each other", "--resume y --anew se contradicen"),
    "grade.resume_what": Message(
        "--resume and --anew are for what an output (-o) keeps", "--resume y --anew se refieren a lo que guarda -o"
    ),
    "grade.no_extra": Message(
        "that needs more than is installed: pip install '{extra}'",
        "eso necesita más de lo que hay instalado: pip install '{extra}'",
    ),
    "grade.busy": Message("somebody else is at work in {folder}", "alguien más está trabajando en {folder}"),
    "grade.parts": Message(
        "{folder} holds what an earlier run has graded: --resume goes on from it, --anew throws it away",
        "{folder} contiene lo que juzgó una ejecución anterior: --resume sigue desde ahí, --anew lo desecha",
    ),
    "grade.ray_path": Message(
        "{name} is a path; --ray takes the address of a cluster, or nothing: put it last, or write --ray=local",
        "{name} es una ruta; --ray lleva la dirección de un clúster, o nada: póngase al final, o escriba --ray=local",
    ),
    "grade.no_cluster": Message(
        "there is no Ray cluster to be had at {address}", "no hay ningún clúster de Ray en {address}"
    ),
    "grade.lost": Message(
        "a worker ended unexpectedly (killed, or out of memory), or there are none; what is graded is kept, and "
        "--resume goes on",
        "un proceso acabó inesperadamente (muerto o sin memoria), o no hay ninguno; lo juzgado se conserva, y --resume "
        "sigue",
    ),
    "grade.interrupted": Message("interrupted; --resume goes on from here", "interrumpido; --resume sigue desde aquí"),
    "grade.failed": Message("{failed} faulty: see {name}", "{failed} con faltas: véase {name}"),
    "grade.repeated": Message(
        "{repeated} deals had come before and are counted once",
        "{repeated} repartos ya habían salido y cuentan una vez",
    ),
    "grade.progress": Message(
        "{done} of {total} deals, {rate} a second, {left} left, {failed} failed",
        "{done} de {total} repartos, {rate} por segundo, quedan {left}, {failed} fallidos",
    ),
    "grade.deal": Message("deal {deal}, {ruleset}, effort {effort}", "reparto {deal}, {ruleset}, esfuerzo {effort}"),
    "grade.at": Message("At", "Dónde"),
    "grade.player": Message("Player", "Jugador"),
    "grade.played": Message("Played", "Jugó"),
    "grade.best": Message("Better", "Mejor"),
    "grade.points": Message("Points", "Tantos"),
    "grade.game": Message("Game %", "Partida %"),
    "grade.hindsight": Message("Seen", "Vistas"),
    "grade.decisions": Message("Dec.", "Dec."),
    "grade.interval": Message("95 %", "95 %"),
    "grade.flags": Message("Flags", "Faltas"),
    "grade.luck": Message("Luck", "Suerte"),
    "grade.phase.draw": Message("draw", "robo"),
    "grade.phase.declarations": Message("declarations", "cantes y cambio"),
    "grade.phase.arrastre": Message("arrastre", "arrastre"),
    "grade.label.equal": Message("right", "bien"),
    "grade.label.small": Message("small loss", "pérdida leve"),
    "grade.label.inaccuracy": Message("inaccuracy", "imprecisión"),
    "grade.label.mistake": Message("mistake", "error"),
    "grade.label.blunder": Message("blunder", "error grave"),
    "grade.label.unclear": Message("unclear", "dudoso"),
    "grade.label.over": Message("game over", "partida acabada"),
    "grade.label.renuncio": Message("renuncio", "renuncio"),
    "grade.missed_one": Message("missed: {action}", "perdido: {action}"),
    "grade.unlucky_one": Message("unlucky", "con mala suerte"),
    "grade.skipped": Message(
        "{skipped} decisions could not be judged.", "No se han podido juzgar {skipped} decisiones."
    ),
    "grade.luck.title": Message(
        "Where the margin of seats 0 and 2 came from", "De qué viene la diferencia de los asientos 0 y 2"
    ),
    "grade.luck.average": Message("the average deal", "el reparto medio"),
    "grade.luck.dealt": Message("luck: the deal", "suerte: el reparto"),
    "grade.luck.drawn": Message("luck: the draws", "suerte: los robos"),
    "grade.luck.layout": Message("luck: where the hidden cards lay", "suerte: dónde estaban las cartas ocultas"),
    "grade.luck.lost": Message(
        "lost by decisions, theirs less their rivals'", "perdido por decisiones, suyas menos rivales"
    ),
    "grade.luck.residual": Message("residual", "resto"),
    "grade.luck.margin": Message("margin", "diferencia"),
    "grade.title": Message(
        "{deals} deals, effort {effort}: mean loss of a decision {known}",
        "{deals} repartos, esfuerzo {effort}: pérdida media de una decisión {known}",
    ),
    "grade.title.known": Message("on what was known", "por lo que se sabía"),
    "grade.title.hindsight": Message("with all cards seen", "a cartas vistas"),
    "grade.legend": Message(
        "Flags: inaccuracies/mistakes/blunders. Luck: points a deal, where all was seen.",
        "Faltas: imprecisiones/errores/errores graves. Suerte: tantos por reparto visto entero.",
    ),
    "grade.others": Message(
        "{others} more players are not listed (--top).", "{others} jugadores más no salen (--top)."
    ),
    "grade.apart.sure": Message(
        "{one} lost less than {other}, surely enough.", "{one} perdió menos que {other}, con bastante certeza."
    ),
    "grade.apart.more": Message(
        "{one} or {other}: {more} more deals each would tell.",
        "{one} o {other}: lo dirían {more} repartos más de cada uno.",
    ),
    "grade.apart.never": Message("{one} or {other}: nothing tells them apart.", "{one} o {other}: nada los distingue."),
    "run.nothing": Message("there is no position in the input", "no hay ninguna posición en la entrada"),
    "run.no_record": Message("there is no record in the input", "no hay ningún registro en la entrada"),
    "run.no_such_deal": Message("no deal has that number", "ningún reparto tiene ese número"),
    "run.cannot_write": Message("cannot write {name}: {reason}", "no se puede escribir {name}: {reason}"),
    "run.interrupted": Message("interrupted", "interrumpido"),
    "run.no_output": Message("cannot write: {reason}", "no se puede escribir: {reason}"),
    "run.progress": Message("{done} done, {failed} failed", "{done} hechas, {failed} fallidas"),
    "run.no_memory": Message("not enough memory", "no hay memoria suficiente"),
    "serve.listening": Message("listening on {address}", "escuchando en {address}"),
    "serve.failed": Message("cannot listen: {reason}", "no se puede escuchar: {reason}"),
    # A position.
    "show.stock": Message("Stock", "Mazo"),
    "show.muestra": Message("Muestra", "Muestra"),
    "show.turn": Message("To act", "Turno"),
    "show.legal": Message("Legal", "Legales"),
    "show.forbidden": Message("Not legal", "No legales"),
    "show.over": Message("Nothing is left to play.", "No queda nada por jugar."),
    # An answer.
    "solve.equal": Message("{side} and its rivals end level.", "{side} y sus rivales acaban iguales."),
    "solve.wins_by": Message("{side} wins the deal by {points}.", "{side} gana el reparto por {points}."),
    "solve.loses_by": Message("{side} loses the deal by {points}.", "{side} pierde el reparto por {points}."),
    "solve.between": Message(
        "Not proven: the margin of {side} lies between {lower} and {upper}.",
        "Sin demostrar: la diferencia de {side} está entre {lower} y {upper}.",
    ),
    "solve.between_outcomes": Message(
        "Not proven: for {side} it is no worse than {lower} and no better than {upper}.",
        "Sin demostrar: para {side} no es peor que {lower} ni mejor que {upper}.",
    ),
    "solve.best": Message("Best: {actions}.", "Lo mejor: {actions}."),
    "solve.cut": Message("The search was cut short.", "La búsqueda se cortó."),
    "solve.cut.value": Message(
        "What the position is worth is proven all the same.", "Lo que vale la posición está demostrado igualmente."
    ),
    "solve.cut.actions": Message(
        "Proven are the values of {exact} of the {count} actions; of the others no more than the limits shown.",
        "Está demostrado el valor de {exact} de las {count} jugadas; de las demás, solo los límites que se dan.",
    ),
    "solve.cut.more": Message(
        "A higher --nodes (or --seconds) goes on further.", "Con --nodes (o --seconds) mayor se llega más lejos."
    ),
    "solve.action": Message("Action", "Jugada"),
    "solve.seat": Message("Seat", "Asiento"),
    "solve.value": Message("Value", "Valor"),
    "solve.outcome": Message("Outcome", "Resultado"),
    "solve.difference": Message("Loss", "Pierde"),
    "solve.line": Message("Best play", "Juego óptimo"),
    "solve.points.one": Message("{count} point", "{count} tanto"),
    "solve.points.many": Message("{count} points", "{count} tantos"),
    "solve.stats": Message("{nodes} nodes, {seconds} s", "{nodes} nodos, {seconds} s"),
    "outcome.win": Message("{side} wins the game", "{side} gana la partida"),
    "outcome.lose": Message("{side} loses the game", "{side} pierde la partida"),
    "outcome.vueltas": Message("the game goes to vueltas", "la partida va de vueltas"),
    "outcome.replay": Message("the deal is replayed", "el reparto se repite"),
    "outcome.other": Message("{side}: {outcome}", "{side}: {outcome}"),
    "outcome.win.short": Message("win", "gana"),
    "outcome.lose.short": Message("lose", "pierde"),
    "outcome.vueltas.short": Message("vueltas", "vueltas"),
    "outcome.replay.short": Message("replay", "se repite"),
    # An estimate.
    "best.best": Message("Best for {seat}: {actions}.", "Lo mejor para {seat}: {actions}."),
    "best.probably": Message("Best for {seat} so far: {actions}.", "Lo mejor para {seat}, por ahora: {actions}."),
    "best.unsettled": Message(
        "Too close to tell: {actions}. More --worlds or --seconds would.",
        "Demasiado igualado: {actions}. Con más --worlds o --seconds se sabría.",
    ),
    "best.status.best": Message("best", "la mejor"),
    "best.status.equal": Message("as good", "igual"),
    "best.status.worse": Message("worse", "peor"),
    "best.status.unclear": Message("unclear", "por ver"),
    "best.chance": Message("Wins", "Gana"),
    "best.percentage": Message("{points} pp", "{points} pp"),
    "best.worlds": Message("Worlds", "Mundos"),
    "best.solved": Message(
        "only one is possible: the values are exact", "solo hay uno posible: los valores son exactos"
    ),
    "best.exact": Message(
        "all {count}: exact means, no sampling error", "todos, {count}: medias exactas, sin muestreo"
    ),
    "best.sampled": Message(
        "{worlds} of {count}, drawn at random (seed {seed}); ± is one standard error",
        "{worlds} de {count}, al azar (semilla {seed}); ± es un error típico",
    ),
    "best.view": Message("View", "Vista"),
    "best.view.clairvoyant": Message(
        "clairvoyant: from here on everybody sees all cards", "clairvoyant: desde aquí todos ven todas las cartas"
    ),
    "best.view.informed": Message(
        "informed: everybody goes on by what it sees until the last tricks, then by all",
        "informed: cada cual sigue con lo que ve hasta las últimas bazas; luego, a la vista",
    ),
    "best.beyond": Message("Later", "Después"),
    "best.beyond.own row": Message(
        "chances from self-play under these rules", "probabilidades de partidas simuladas con estas reglas"
    ),
    "best.beyond.base row": Message(
        "chances from self-play under the named ruleset, overrides left out",
        "probabilidades de partidas simuladas con el reglamento, sin los cambios",
    ),
    "best.gap.same": Message(
        "By the {view} view {actions} is best too; the gap between the two is {gap}.",
        "También con la vista {view} lo mejor es {actions}; la diferencia entre las dos es {gap}.",
    ),
    "best.gap.other": Message(
        "By the {view} view {actions} would be best; the gap between the two is {gap}.",
        "Con la vista {view} lo mejor sería {actions}; la diferencia entre las dos es {gap}.",
    ),
    "best.why": Message(
        "{best} rather than {than}: better in {better} of the worlds, as good in {same}, worse in {worse}.",
        "{best} antes que {than}: mejor en el {better} de los mundos, igual en el {same}, peor en el {worse}.",
    ),
    "best.made_of": Message("On average through {parts}.", "De media, por {parts}."),
    "best.reason.seat": Message(
        "If {seat} has {card} ({share} of the worlds) it gains {gain}, otherwise {otherwise}.",
        "Si {seat} tiene {card} ({share} de los mundos) gana {gain}; si no, {otherwise}.",
    ),
    "best.reason.stock": Message(
        "If {card} is in the stock ({share} of the worlds) it gains {gain}, otherwise {otherwise}.",
        "Si {card} está en el mazo ({share} de los mundos) gana {gain}; si no, {otherwise}.",
    ),
    "best.where": Message("Where the unseen cards may be", "Dónde pueden estar las cartas que no se ven"),
    "best.where.none": Message("No card is unseen.", "No hay ninguna carta sin ver."),
    "best.cards": Message("Cards", "Cartas"),
    "best.stats": Message("{worlds} worlds, {seconds} s", "{worlds} mundos, {seconds} s"),
    # Deals.
    "deal.title": Message("deal {number}", "reparto {number}"),
    "deal.breach": Message("trick {trick}, seat {seat}, {action}", "baza {trick}, asiento {seat}, {action}"),
    "deal.players": Message("Players: {names}", "Jugadores: {names}"),
    "line.at": Message("At", "Dónde"),
    "line.played": Message("Played", "Jugada"),
    "line.cost": Message("Cost", "Costó"),
    "line.better": Message("Better", "Mejor"),
    "line.sum": Message("Lost: {costs}.", "Perdido: {costs}."),
    "line.empty": Message("Nothing was played.", "No se jugó nada."),
    "line.unknown": Message(
        "?: not proven before {count} of {total} actions; a higher --nodes goes on further, unless cards are unseen or "
        "the game is over.",
        "?: sin demostrar antes de {count} de {total} jugadas; con --nodes mayor se llega más lejos, salvo que haya "
        "cartas sin ver o la partida haya acabado.",
    ),
    # Rulesets.
    "rules.field": Message("Field", "Campo"),
    "rules.value": Message("Value", "Valor"),
    "rules.default": Message("Default", "Por defecto"),
    "rules.meaning": Message("Meaning", "Significado"),
    "rules.values": Message("may be {values}", "puede ser {values}"),
    "rules.name": Message("Ruleset", "Reglamento"),
    "rules.differs": Message("What differs from the default", "Lo que difiere del reglamento por defecto"),
    "rules.title": Message("{name}, {players} players", "{name}, {players} jugadores"),
    "rules.is_default": Message("the default", "el reglamento por defecto"),
    # Faults.
    "fault.item": Message("item", "elemento"),
    "fault.line": Message("line {line}", "línea {line}"),
    "fault.column": Message("column {column}", "columna {column}"),
}

# What is wrong, in Spanish, by code and by reason. In English the errors speak for themselves, and say more.
CODES: Final[dict[str, str]] = {
    "ERROR": "no se puede",
    "ILLEGAL_ACTION": "jugada no permitida",
    "INVALID_POSITION": "la posición tiene fallos",
    "INVALID_RECORD": "el registro tiene fallos",
    "INVALID_REQUEST": "no se puede responder a eso",
    "INVALID_RULES": "el reglamento tiene fallos",
    "INVALID_SYNTAX": "no se entiende",
    "INVALID_TEMPLATE": "la plantilla tiene fallos",
    "UNREADABLE": "no se puede leer",
}
REASONS: Final[dict[str, str]] = {
    "AFTER_END": "la partida ya había acabado",
    "AMBIGUOUS_CARD": "carta ambigua: según la baraja, el número es una figura u otra; escríbase J, Q o K",
    "AMBIGUOUS_DEAL": "hay varios repartos: 3/7.2 está en el reparto 3",
    "BAD_ADDRESS": "no es ninguna dirección; 7.2 es la segunda carta de la baza 7",
    "BAD_JSON": "la entrada acaba dentro de una lista JSON",
    "BAD_LIMIT": "el límite no está en el margen permitido",
    "BAD_MOMENT": "el momento no existe, o no cuadra con la mesa y el mazo",
    "BAD_PATTERN": "la expresión regular no se entiende, o podría no acabar nunca",
    "BAD_PLAYERS": "los jugadores son 4, o 2",
    "BAD_RULE": "el campo no admite ese valor",
    "BAD_SCHEMA": "la versión del esquema es 1",
    "BAD_SCORE": "no son los tantos de las dos parejas",
    "BAD_SEAT": "no hay tal asiento",
    "BAD_TEXT": "esta parte del texto no se entiende",
    "BAD_TYPE": "el valor no es del tipo que se espera",
    "CARD_TWICE": "la carta aparece dos veces",
    "CARRIED_MISMATCH": "no son los tantos que deja el reparto anterior",
    "CONTRADICTION": "las cartas que no se ven no caben donde podrían estar",
    "DEAL_OVER": "no queda ninguna carta por jugar",
    "EXCHANGED_MUESTRA": "un cambio no deja esa carta bajo el mazo",
    "EXCLUDED_HELD": "la mano tiene una carta de las excluidas",
    "GAME_OVER": "la partida ya ha acabado",
    "GONE_SIZE": "las cartas jugadas no cuadran con las que faltan",
    "HAND_COUNT": "no hay tantas manos como jugadores",
    "HAND_SIZE": "la mano no tiene las cartas que debería",
    "HIDDEN_CARDS": "para el valor exacto hay que conocer todas las cartas",
    "IS_DIRECTORY": "es un directorio",
    "LEGAL_UNDER": "el reparto entero es legal con otro reglamento",
    "MISSING": "falta este campo",
    "MUESTRA_MISMATCH": "la última carta del mazo no es la muestra",
    "MUESTRA_NOT_TRUMP": "la muestra no es del palo de triunfo",
    "MUESTRA_UNKNOWN": "la muestra está a la vista: hay que decir cuál es",
    "NOT_AN_OBJECT": "una posición es un objeto JSON, no una lista",
    "NOT_A_POSITION": "una posición en texto tiene al menos cuatro partes: manos, triunfo, quién sale y baza",
    "NOT_A_RECORD": "aquí no hay ningún reparto",
    "NOT_FOUND": "no hay tal fichero",
    "NOT_IN_DECK": "no está en la baraja de cuarenta, que no tiene ni 8 ni 9",
    "NOT_IN_HAND": "quien la juega no tiene esa carta",
    "NOT_JSON": "no es JSON",
    "NOT_LOOPBACK": "no es una dirección local, como 127.0.0.1",
    "NOT_MANO": "no sale la mano, que está a la derecha de quien reparte",
    "NOT_ONE_LINE": "una posición en texto va en una sola línea",
    "NOT_TO_ACT": "ese asiento no tiene nada que decidir ahora",
    "NOT_TOML": "no es TOML",
    "NOT_UTF8": "no es texto en UTF-8",
    "NO_ADDRESS": "de un registro hay que decir qué decisión se quiere: --at 7.2 (o, en solve, todo lo jugado: --line)",
    "NO_CLAIM": "con estas reglas no se canta la partida",
    "NO_COMMON_SCORE": "los repartos no tienen un tanteo común",
    "NO_PERMISSION": "sin permiso para leerlo",
    "NO_SUCH_DEAL": "no hay tal reparto",
    "NO_SUCH_MOMENT": "no hay nada en esa dirección",
    "OUT_OF_RANGE": "el número está fuera de sus límites",
    "OWN_HAND_UNSEEN": "para decidir, el asiento ha de ver toda su mano",
    "READ_FAILED": "la lectura ha fallado",
    "REPEATED_FIELD": "el campo se da dos veces",
    "RESULT_MISMATCH": "el resultado no es el de las cartas jugadas",
    "STOCK_SIZE": "el mazo no tiene un número posible de cartas",
    "SUNG_TRICK": "el cante no puede ser tras esa baza",
    "SUNG_TWICE": "un palo se canta una sola vez por reparto",
    "TOO_LONG": "es demasiado largo",
    "TOO_MANY_TRICKS": "no hay tantas bazas",
    "TRICKS_SUM": "las bazas no suman las que se han jugado",
    "TRICK_ORDER": "esa baza no va aquí",
    "TRICK_SIZE": "la baza no tiene las cartas que debería",
    "UNFINISHED": "el reparto no está acabado; un * dice que es todo lo que hay",
    "UNKNOWN_ACTION": "no es ninguna jugada; lo son una carta, como 7O, 'cante O', 'cambio', 'tute' y 'pass'",
    "UNKNOWN_CARD": "no es ninguna carta: escríbase figura y palo, como 7O",
    "UNKNOWN_FIELD": "no hay tal campo",
    "UNKNOWN_LINE": "la plantilla no conoce esta línea",
    "UNKNOWN_EFFORT": "solo hay los esfuerzos quick, normal y deep",
    "UNKNOWN_OBJECTIVE": "el juego no tiene tal objetivo",
    "UNKNOWN_RULE": "los reglamentos no tienen tal campo",
    "UNKNOWN_RULESET": "no hay tal reglamento",
    "UNKNOWN_SUIT": "no es ningún palo",
    "UNKNOWN_VIEW": "solo hay las vistas clairvoyant e informed",
    "UNKNOWN_WANT": "solo se puede pedir all, best o value",
    "VALUE_ONLY": "at_least solo pregunta por el valor: want ha de ser value",
    "WRONG_DEALER": "no le toca repartir",
    "WRONG_LEADER": "no sale quien ganó la baza anterior",
    "WRONG_TURN": "no le toca jugar",
}


class Text:
    """The messages in one language; calling it with a key and the placeholders' values gives the text."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._column = 1 if lang == "es" else 0

    def __call__(self, key: str, **values: object) -> str:
        """A message, with its placeholders filled in."""
        return MESSAGES[key][self._column].format(**values)

    def number(self, number: int) -> str:
        """A large number, its thousands set apart."""
        return f"{number:,}".replace(",", " ")

    def decimal(self, number: float, places: int) -> str:
        """A number with so many decimals."""
        shown = f"{number:.{places}f}"
        return shown.replace(".", ",") if self.lang == "es" else shown

    def either(self, words: Sequence[str]) -> str:
        """Words as alternatives in a sentence."""
        return self("usage.or").join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

    def points(self, count: int) -> str:
        """So many points."""
        return self("solve.points.one" if count == 1 else "solve.points.many", count=count)

    def outcome(self, outcome: str, side: str) -> str:
        """A sentence for an outcome of the game; a game's own outcomes are named as they are."""
        key = f"outcome.{outcome}"
        sentence = self(key, side=side) if key in MESSAGES else self("outcome.other", side=side, outcome=outcome)
        return sentence[:1].upper() + sentence[1:] + "."

    def outcome_short(self, outcome: str) -> str:
        """The word for an outcome in a table."""
        key = f"outcome.{outcome}.short"
        return self(key) if key in MESSAGES else outcome

    def error(self, error: ArrastreError) -> str:
        """What is wrong with an item as a whole."""
        return CODES.get(error.code, error.message) if self.lang == "es" else error.message

    def fault(self, fault: Fault) -> str:
        """One thing that is wrong."""
        said = fault.message or fault.reason
        return REASONS.get(fault.reason, said) if self.lang == "es" else said


def language(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The language asked for with ``--lang``, else the environment's; needed before the arguments can be parsed.

    An impossible ``--lang`` counts as none: the parser will refuse it.
    """
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        value = argument.removeprefix("--lang=")
        if argument == "--lang" and place + 1 < len(arguments):
            value = arguments[place + 1]
        if value != argument and value in LANGUAGES:
            return value
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "es" if environment[name].lower().startswith("es") else "en"
    return "en"
