-- The index of a memory, built from the Markdown files and the event log. It can be deleted at any time.
-- Its schema is exactly these statements (compared when it is opened). Times are RFC 3339 text; "_json" is JSON
-- text.

-- Values of the whole index: the numbers of documents and problems, the folders that could not be read, the
-- manifest's stamp, and the generation, a hash of the paths and texts of all files.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The parts of folders that the index was built from: names of files joined by "/", those of them that are no regular
-- files, and four 64-bit numbers for each: size, mtime_ns, ctime_ns, inode. Without numbers if a file of the part must be
-- read again.
CREATE TABLE walk (
    folder TEXT NOT NULL,
    names TEXT NOT NULL,
    special TEXT NOT NULL,
    stamps BLOB NOT NULL
);

-- Every Markdown file found, including unreadable ones, with its stamp when it was read.
CREATE TABLE files (
    path TEXT PRIMARY KEY,            -- POSIX, relative to the folder that holds .thunderus
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    hash TEXT NOT NULL,               -- sha256:… over the text with line ends as LF; "" when it could not be read
    doc_id TEXT NOT NULL,             -- "" when it is no document
    problems_json TEXT NOT NULL,      -- findings of the reader, [] for none
    folded TEXT NOT NULL,             -- the path in NFC and case-folded: equal for files that some system treats as one
    settled INTEGER NOT NULL          -- 0 for a file that must be read again: it changed so shortly before it was read
                                      -- that its stamp cannot show a later change
) WITHOUT ROWID;

CREATE INDEX files_by_folded ON files (folded);

CREATE INDEX files_by_doc_id ON files (doc_id, path);

CREATE INDEX files_with_problems ON files (path) WHERE problems_json <> '[]';

-- One row per document. If several files have the same id, the first path is the document; files outside the
-- archive come first.
CREATE TABLE docs (
    doc_id TEXT PRIMARY KEY,          -- e.g. "fact.testing.llvm-cov"
    kind TEXT NOT NULL,               -- core|fact|adr|playbook|recap
    title TEXT NOT NULL,
    path TEXT NOT NULL,
    tags_json TEXT NOT NULL,          -- JSON array
    updated TEXT NOT NULL,
    provenance_json TEXT NOT NULL,    -- JSON object
    created TEXT NOT NULL,
    updated_key TEXT NOT NULL,        -- "updated" in UTC, sorts as the time does
    status TEXT NOT NULL,             -- verified|stale|unknown, as written in the file
    state TEXT NOT NULL,              -- of a decision, as it says: proposed|accepted|rejected|deprecated|superseded, or ""
    confirmed_by TEXT NOT NULL,       -- user|agent, "" when nobody confirmed it
    aliases_json TEXT NOT NULL,       -- JSON array
    anchors_json TEXT NOT NULL,       -- JSON array: link anchors of all headings
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,            -- bytes
    tokens INTEGER NOT NULL,          -- about: characters / 4
    archived INTEGER NOT NULL,        -- 1 if the document is archived
    folded TEXT NOT NULL,             -- the id in NFC and case-folded
    category TEXT NOT NULL,           -- as written, "" for none
    run_id TEXT NOT NULL              -- as written, "" for none
);

CREATE INDEX docs_by_folded ON docs (folded);

CREATE INDEX docs_by_updated ON docs (archived, updated_key, updated);

CREATE INDEX docs_by_kind ON docs (archived, kind, tokens);

CREATE INDEX archived_docs ON docs (doc_id) WHERE archived = 1;

CREATE INDEX docs_by_run ON docs (run_id) WHERE run_id <> '';

-- The entries of the manifest as written there: one per document outside the archive.
CREATE TABLE manifest (
    doc_id TEXT PRIMARY KEY,
    entry TEXT NOT NULL               -- JSON object, indented
) WITHOUT ROWID;

-- Other names of documents: aliases, file names, the files they were imported from. Case-folded, without ".md".
CREATE TABLE names (
    name TEXT NOT NULL,
    doc_id TEXT NOT NULL,
    PRIMARY KEY (name, doc_id)
) WITHOUT ROWID;

CREATE INDEX names_by_doc_id ON names (doc_id);

-- Relations between documents: derives_from|refers_to|supersedes|duplicates.
CREATE TABLE doc_edges (
    src_doc_id TEXT NOT NULL,
    rel TEXT NOT NULL,
    dst_doc_id TEXT NOT NULL,
    PRIMARY KEY (src_doc_id, rel, dst_doc_id)
) WITHOUT ROWID;

CREATE INDEX doc_edges_by_dst ON doc_edges (dst_doc_id, rel);

-- Documents that belong to an episode.
CREATE TABLE episodes (
    doc_id TEXT PRIMARY KEY,
    episode TEXT NOT NULL,
    sequence INTEGER                  -- "sequence_number", null for none
) WITHOUT ROWID;

CREATE INDEX episodes_by_name ON episodes (episode);

-- Anchors of the documents outside the archive, in the order of the document.
CREATE TABLE anchors (
    doc_id TEXT NOT NULL,
    place INTEGER NOT NULL,           -- from 0
    path TEXT NOT NULL,               -- POSIX, relative to the folder that holds .thunderus; may be a glob
    symbol TEXT NOT NULL,             -- "" for none
    lines TEXT NOT NULL,              -- "10-20", "" for none
    fingerprint TEXT NOT NULL,        -- "" until somebody confirms it
    line INTEGER NOT NULL,            -- of the document's file
    since TEXT NOT NULL,              -- the commit the document names as last verified, "" for none
    PRIMARY KEY (doc_id, place)
) WITHOUT ROWID;

CREATE INDEX anchors_by_path ON anchors (path);

-- What the gardener compares, so that it reads few documents.
CREATE TABLE traits (
    doc_id TEXT PRIMARY KEY,
    imported_from TEXT NOT NULL,      -- the file it was imported from, "" for none
    expires TEXT NOT NULL,            -- the day, "" for none
    letters TEXT NOT NULL,            -- counts of letters: equal for bodies that make the same statements
    quality TEXT NOT NULL,            -- a number from 0 to 1, "" without score and rating
    places_json TEXT NOT NULL,        -- JSON array: anchors without fingerprints, sorted
    wiki_links_json TEXT NOT NULL,    -- JSON array: targets of wiki links in the body, each once
    file_links_json TEXT NOT NULL,    -- JSON array: targets of relative links in the body, each once
    hashtags_json TEXT NOT NULL       -- JSON array: words after a # in the body, each once
) WITHOUT ROWID;

-- Whole documents, for search by words. "names": aliases, words of id and path. "parts": parts of camel-case names and
-- two-character grams of Chinese, Japanese and Korean. The row id is that of docs.
CREATE VIRTUAL TABLE docs_fts USING fts5(
    doc_id, title, headings, tags, body, names, parts,
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Sections of documents. id = row id of the document * 4096 + position in the document.
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    anchor TEXT NOT NULL,             -- of the heading above it; "" before the first one
    line INTEGER NOT NULL,            -- in the file, from 1
    title TEXT NOT NULL,              -- title, aliases, words of the path
    heading TEXT NOT NULL,
    body TEXT NOT NULL,
    parts TEXT NOT NULL,
    injection TEXT NOT NULL           -- what a prompt injection in it does, as lint reports it; "" for none
);

CREATE VIRTUAL TABLE passages_fts USING fts5(
    title, heading, body, parts,
    content = 'passages', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Shards of the event log, with their stamp when they were read.
CREATE TABLE shards (
    shard INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    damages INTEGER NOT NULL,         -- lines that could not be read
    last_hash TEXT NOT NULL,          -- of the last line; "" for a damaged, incomplete or empty shard
    chained INTEGER NOT NULL          -- 0 when no line has the key "prev"
);

-- Last lines of other shards as named by "heads" of a shard's events.
CREATE TABLE heads (
    shard INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    hash TEXT NOT NULL
);

CREATE INDEX heads_by_shard ON heads (shard);

CREATE INDEX heads_by_session ON heads (session_id);

-- Events: their position in the shard and in the order of the log. Their bodies are only in the shards.
CREATE TABLE events (
    shard INTEGER NOT NULL,
    line INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    place TEXT NOT NULL,              -- sorts as the log: UTC time and id, never before an earlier line of its session
    day TEXT NOT NULL,                -- of its own time, in UTC
    broken INTEGER NOT NULL,          -- 1 when the chain is broken before or after this line
    origin_session TEXT,              -- of an imported event: its session and id in the log it came from
    origin_id TEXT,
    PRIMARY KEY (shard, line)
) WITHOUT ROWID;

CREATE INDEX events_by_place ON events (place);

CREATE INDEX events_by_id ON events (id);

CREATE INDEX events_by_day ON events (day);

CREATE INDEX events_by_origin ON events (origin_id) WHERE origin_id IS NOT NULL;

-- Documents and files that an event refers to, their hashes after it, and who wrote their text.
CREATE TABLE event_docs (
    shard INTEGER NOT NULL,
    line INTEGER NOT NULL,
    doc_id TEXT NOT NULL,
    path TEXT NOT NULL,               -- relative to the folder that holds .thunderus; "" when none is named
    after_hash TEXT,                  -- "" when it is gone, null when it was only named
    text_by TEXT NOT NULL,            -- user|agent|tool that changed title or body, "" for none; user that verified it
    former_id TEXT NOT NULL           -- of a renamed or moved document: its id before; "" for others
);

CREATE INDEX event_docs_by_line ON event_docs (shard, line);

CREATE INDEX event_docs_by_doc_id ON event_docs (doc_id);

CREATE INDEX event_docs_by_path ON event_docs (path);

CREATE INDEX event_docs_by_hash ON event_docs (after_hash);

-- Changes that are logged but were never written to their file, as recorded by the event in "shard".
CREATE TABLE aborted (
    shard INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    path TEXT NOT NULL
);

CREATE INDEX aborted_by_shard ON aborted (shard);

CREATE INDEX aborted_by_path ON aborted (path);

-- Private shards of users in local/users, with their stamp when they were read: those of users who asked.
CREATE TABLE user_shards (
    shard INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL
);

CREATE INDEX user_shards_by_user ON user_shards (user);

-- Conversations and executions in these shards.
CREATE TABLE records (
    record INTEGER PRIMARY KEY,
    shard INTEGER NOT NULL,
    lines_json TEXT NOT NULL,         -- JSON array: the lines of its events
    kind TEXT NOT NULL,               -- conversation|execution
    message_id TEXT NOT NULL,
    time TEXT NOT NULL,               -- UTC, sorts as the time does
    success INTEGER NOT NULL,         -- of an execution: 1 if it succeeded
    duration_ms INTEGER,              -- of an execution; null when unknown
    tools_json TEXT NOT NULL,         -- JSON array, in the order of their use
    errors_json TEXT NOT NULL         -- JSON array: the types of its errors, in order
);

CREATE INDEX records_by_shard ON records (shard, kind);

CREATE INDEX records_by_message_id ON records (message_id);

-- Their texts, for search by words. The row id is that of records.
CREATE VIRTUAL TABLE records_fts USING fts5(
    text, parts,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
