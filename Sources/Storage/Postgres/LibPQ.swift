import CLibPQ
import Glibc

// The one file that touches libpq's pointers, beside LibPQParameters.swift. Nothing here waits, and nothing here decides: see
// ConnectionDriver.

/// libpq's PGconn. Not Sendable: it belongs to one connection's thread.
final class LibPQConnection {
    enum Polling {
        case reading, writing, ready, failed
    }

    enum Transaction {
        case idle, active, open, failed, unknown
    }

    private let raw: OpaquePointer
    private let noticeSink: NoticeSink

    /// Begins to connect; nil if libpq had no memory.
    init?(parameters: [String: String], onNotice: @escaping @Sendable (_ severity: String, _ state: String) -> Void) {
        // libpq copies keywords and values before it returns.
        let pairs = Array(parameters)
        let started = withCStrings(pairs.map(\.key)) { keywords in
            withCStrings(pairs.map(\.value)) { values in
                PQconnectStartParams(keywords, values, 0)
            }
        }
        guard let started else { return nil }
        raw = started
        noticeSink = NoticeSink(receive: onNotice)
        // Errors of the start-up come as text only. This form holds their SQLSTATE and none of the server's words.
        PQsetErrorVerbosity(raw, PQERRORS_SQLSTATE)
        // The sink lives as long as the connection, which this object ends.
        PQsetNoticeReceiver(
            raw,
            { context, result in
                guard let context else { return }
                let sink = Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue()
                let severity = PQresultErrorField(result, diagnosticSeverity).map { String(cString: $0) } ?? ""
                // Errors that answer no statement come as notices.
                if severity == "FATAL" || severity == "PANIC" { sink.sawFatal = true }
                let origin = PQresultErrorField(result, diagnosticFunction).map { String(cString: $0) }
                if ServerWarning.mayBeOfCommit(severity: severity, function: origin) { sink.sawWarning = true }
                sink.receive(severity, PQresultErrorField(result, diagnosticSQLState).map { String(cString: $0) } ?? "")
            },
            Unmanaged.passUnretained(noticeSink).toOpaque())
    }

    deinit {
        PQfinish(raw)
    }

    var socket: Int32 { PQsocket(raw) }
    var isBad: Bool { PQstatus(raw) == CONNECTION_BAD }
    /// Whether the server has taken the connection, whatever it sent then.
    var isMade: Bool { ![CONNECTION_BAD, CONNECTION_NEEDED, CONNECTION_STARTED].contains(PQstatus(raw)) }
    var isBusy: Bool { PQisBusy(raw) == 1 }
    var host: String { PQhost(raw).map { String(cString: $0) } ?? "" }
    var port: String { PQport(raw).map { String(cString: $0) } ?? "" }
    var database: String { PQdb(raw).map { String(cString: $0) } ?? "" }
    /// The server process that the start-up named.
    var serverProcess: Int32 { PQbackendPID(raw) }
    /// Whether the server said that it ends the connection; the socket may show that later.
    var saidFarewell: Bool { noticeSink.sawFatal }
    /// Whether a WARNING has come since ``forgetWarnings()`` that may concern a commit: see ``ServerWarning``.
    var drewWarning: Bool { noticeSink.sawWarning }
    /// Whether the connection is encrypted. libpq 15 sends a cancel request in the clear all the same.
    var isEncrypted: Bool { PQsslInUse(raw) == 1 || PQgssEncInUse(raw) == 1 }
    /// libpq's last message: during the start-up without the server's text; afterwards it may repeat values, so do not
    /// show it.
    var errorMessage: String { String(cString: PQerrorMessage(raw)) }

    var transaction: Transaction {
        switch PQtransactionStatus(raw) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_ACTIVE: .active
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// One step of connecting.
    func pollConnect() -> Polling {
        switch PQconnectPoll(raw) {
        case PGRES_POLLING_READING: .reading
        case PGRES_POLLING_WRITING: .writing
        case PGRES_POLLING_OK: .ready
        default: .failed
        }
    }

    func setNonblocking() -> Bool {
        PQsetnonblocking(raw, 1) == 0
    }

    /// From now on warnings concern the next statement.
    func forgetWarnings() {
        noticeSink.sawWarning = false
    }

    /// Queues a statement with its parameters and asks for binary results. `false`: see the connection's status.
    func send(_ query: PostgresQuery) -> Bool {
        let types = query.oids
        return withParameters(of: query) { count, pointers, lengths, formats in
            PQsendQueryParams(raw, query.sql, count, types, pointers, lengths, formats, 1) == 1
        }
    }

    /// Queues that a statement is kept under a name of this session's, without its values.
    func send(preparing query: PostgresQuery, as name: String) -> Bool {
        PQsendPrepare(raw, name, query.sql, Int32(query.slots.count), query.oids) == 1
    }

    /// Queues the statement that is kept under a name, with its parameters, and asks for binary results.
    func send(_ query: PostgresQuery, preparedAs name: String) -> Bool {
        withParameters(of: query) { count, pointers, lengths, formats in
            PQsendQueryPrepared(raw, name, count, pointers, lengths, formats, 1) == 1
        }
    }

    private func withParameters(
        of query: PostgresQuery,
        _ body: (Int32, [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Bool
    ) -> Bool {
        let count = query.slots.count
        let lengths = query.slots.map { Int32(clamping: $0.range?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: count)
        return query.values.withUnsafeBufferPointer { values in
            // A value of no bytes still needs an address: a null pointer is NULL.
            var empty: CChar = 0
            return withUnsafePointer(to: &empty) { placeholder in
                let pointers: [UnsafePointer<CChar>?] = query.slots.map { slot in
                    guard let range = slot.range else { return nil }
                    guard !range.isEmpty, let base = values.baseAddress else { return placeholder }
                    return UnsafeRawPointer(base + range.lowerBound).assumingMemoryBound(to: CChar.self)
                }
                return body(Int32(count), pointers, lengths, formats)
            }
        }
    }

    /// Queues a script of one or more statements over the simple protocol.
    func send(script: String) -> Bool {
        PQsendQuery(raw, script) == 1
    }

    /// Sends what is queued, as far as the socket takes it: true if all is sent, nil upon an error.
    func flush() -> Bool? {
        switch PQflush(raw) {
        case 0: true
        case 1: false
        default: nil
        }
    }

    /// Reads what has arrived. `false`: the connection is lost.
    func consumeInput() -> Bool {
        PQconsumeInput(raw) == 1
    }

    /// The next result of the statement under way; it would block while ``isBusy``. Nil: the statement has ended.
    func nextResult() -> LibPQResult? {
        PQgetResult(raw).map(LibPQResult.init)
    }

    /// Takes the notifications that have arrived; returns their payloads, in their order.
    func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(raw) {
            let payload: UnsafeMutablePointer<CChar>? = notification.pointee.extra
            payloads.append(payload.map { String(cString: $0) } ?? "")
            PQfreemem(notification)
        }
        return payloads
    }

    /// A handle with which another thread can ask the server to stop the statement under way.
    func makeCanceller() -> LibPQCanceller? {
        PQgetCancel(raw).map(LibPQCanceller.init)
    }

    private final class NoticeSink {
        let receive: @Sendable (String, String) -> Void
        var sawFatal = false
        var sawWarning = false

        init(receive: @escaping @Sendable (String, String) -> Void) {
            self.receive = receive
        }
    }
}

extension PostgresQuery {
    /// The types of its parameters.
    fileprivate var oids: [Oid] { slots.map { Oid($0.type.rawValue) } }
}

/// libpq's PGcancel. `@unchecked Sendable`: libpq never changes one after making it, and documents PQcancel as safe on
/// any thread.
final class LibPQCanceller: @unchecked Sendable {
    private let raw: OpaquePointer

    fileprivate init(_ raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        PQfreeCancel(raw)
    }

    /// Connects anew to ask for the statement's end, and waits until the server has passed that on. Blocks.
    func cancel() -> Bool {
        var ignored = [CChar](repeating: 0, count: 256)
        return PQcancel(raw, &ignored, Int32(ignored.count)) == 1
    }
}

/// libpq's PGresult. `@unchecked Sendable`: after libpq returns a result nothing changes it, and libpq documents reading
/// one from several threads as safe.
final class LibPQResult: @unchecked Sendable {
    enum Status {
        case command, rows, copy, failed, other
    }

    struct Column {
        let type: PostgresType
        let isBinary: Bool
    }

    private let raw: OpaquePointer
    let rowCount: Int
    let columns: [Column]
    /// The first column of each name, of a wide result: a search for each value costs more than reading it.
    private let places: [String: Int]

    fileprivate init(_ raw: OpaquePointer) {
        self.raw = raw
        rowCount = Int(PQntuples(raw))
        columns = (0..<PQnfields(raw)).map { index in
            Column(type: PostgresType(rawValue: PQftype(raw, index)), isBinary: PQfformat(raw, index) == 1)
        }
        var places: [String: Int] = [:]
        if columns.count > Self.fewColumns, rowCount > 0 {
            places.reserveCapacity(columns.count)
            for column in columns.indices.reversed() {
                if let name = PQfname(raw, Int32(column)) { places[String(cString: name)] = column }
            }
        }
        self.places = places
    }

    private static let fewColumns = 16

    deinit {
        PQclear(raw)
    }

    /// A column's name. The caller has checked the index.
    func name(of column: Int) -> String { PQfname(raw, Int32(column)).map { String(cString: $0) } ?? "" }

    /// The first column of this name.
    func column(named name: String) -> Int? {
        guard places.isEmpty else { return places[name] }
        return name.withCString { name in
            columns.indices.first { column in PQfname(raw, Int32(column)).map { strcmp($0, name) == 0 } ?? false }
        }
    }

    var status: Status {
        switch PQresultStatus(raw) {
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .command
        case PGRES_TUPLES_OK: .rows
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: .copy
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: .failed
        default: .other
        }
    }

    /// The command tag, such as `COMMIT` or `INSERT 0 3`.
    var commandTag: String {
        String(cString: PQcmdStatus(raw))
    }

    /// The rows that the command inserted, changed, deleted, or returned; 0 for commands that have no such number.
    var affectedRows: Int {
        Int(String(cString: PQcmdTuples(raw))) ?? 0
    }

    /// The value's bytes for the duration of the call; nil for NULL. The caller has checked both indices.
    func withValue<T, Failure: Error>(
        row: Int, column: Int, _ body: (RawSpan?) throws(Failure) -> T
    ) throws(Failure) -> T {
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(raw, row, column) == 0, let value = PQgetvalue(raw, row, column) else {
            return try body(nil)
        }
        return try body(UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(raw, row, column))).bytes)
    }

    /// The server's error without values; nil if the failure was libpq's own, such as a lost connection.
    var serverError: PostgresError? {
        guard let state = field(diagnosticSQLState).map(SQLState.init(rawValue:)) else { return nil }
        // The primary message may be absent or repeat values; then the code and the names have to do.
        let message = state.hasMessageWithoutValues ? field(diagnosticPrimary) : nil
        let line = message?.split(whereSeparator: \.isNewline).joined(separator: " ")
        var error = PostgresError(
            .server(state), "\(field(diagnosticSeverity) ?? "ERROR"): \(line ?? "the server refused the statement")")
        error.constraint = field(diagnosticConstraint)
        error.table = field(diagnosticTable).map { table in
            field(diagnosticSchema).map { "\($0).\(table)" } ?? table
        }
        error.column = field(diagnosticColumn)
        error.position = field(diagnosticPosition).flatMap { Int($0) }
        return error
    }

    private func field(_ code: Int32) -> String? {
        PQresultErrorField(raw, code).map { String(cString: $0) }
    }
}

// The PG_DIAG_… macros of postgres_ext.h are C character constants, which come to Swift without their meaning.
private let diagnosticSeverity = Int32(UInt8(ascii: "V"))
private let diagnosticSQLState = Int32(UInt8(ascii: "C"))
private let diagnosticFunction = Int32(UInt8(ascii: "R"))
private let diagnosticPrimary = Int32(UInt8(ascii: "M"))
private let diagnosticPosition = Int32(UInt8(ascii: "P"))
private let diagnosticSchema = Int32(UInt8(ascii: "s"))
private let diagnosticTable = Int32(UInt8(ascii: "t"))
private let diagnosticColumn = Int32(UInt8(ascii: "c"))
private let diagnosticConstraint = Int32(UInt8(ascii: "n"))
