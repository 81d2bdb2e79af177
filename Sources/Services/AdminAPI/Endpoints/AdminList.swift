import APIKit
import AccountStore
import Base
import HTTPTypes

/// A list that is answered a page at a time as JSON, or as a whole as CSV or as lines of JSON.
struct AdminList<Row: Sendable>: Sendable {
    /// What a page calls its elements.
    let name: String
    /// What an element looks like.
    let shape: Shape<Row, Void>
    /// What the list is of, for the record of opened texts.
    let subject: (kind: String, reference: String)
    /// How many parts its cursor has.
    let cursorParts: Int
    /// Whether a cursor is one of this list.
    var takes: @Sendable (ListCursor) -> Bool = { _ in true }
    /// What a page has beside its elements, and what that looks like.
    var more: (schemas: [ValueSchema.Property], members: @Sendable () async throws -> [JSONValue.Member]) = ([], { [] })
    /// How many personal texts an element shows in full.
    let openedTexts: @Sendable (Row) -> Int64
    /// Reads a page.
    let read: @Sendable (_ opening: Opening, _ after: ListCursor?, _ limit: Int) async throws -> ListPage<Row>

    /// The number of elements of a page by default.
    static var page: Int { 25 }
    /// How many are read at a time for a file.
    private static var portion: Int { 1000 }

    /// How a list is written.
    enum Format: String, CaseIterable {
        /// A page.
        case json
        /// All of it, for spreadsheets.
        case csv
        /// All of it, an object a line.
        case ndjson
    }

    /// The values of the query that every list takes.
    static var query: [APIQueryParameter] {
        [
            .init("after", .string(.init(1, 1000)), "Where the page begins: next of the page before."),
            .init("limit", .integer(1...200), "How many elements a page has at most; 25 by default."),
            .init(
                "format", .choice(Format.allCases.map(\.rawValue)),
                "json is a page; csv and ndjson are the whole list from after on. In csv, texts that a spreadsheet would run begin with an apostrophe."
            ),
        ]
    }

    /// What a page looks like.
    func success(_ schemaName: String, _ about: String) -> APISuccess {
        APISuccess(
            about,
            .named(
                schemaName,
                .object(
                    [
                        .required(name, .array(shape.schema)),
                        .required(
                            "next", .nullable(.text),
                            "Where the list goes on; null at its end. A page may be short, and even empty, and have one."
                        ),
                        .required(
                            "lookedThrough", .nullable(.integer()),
                            "How many rows were looked through, where that ended the page: then the list goes on behind them."
                        ),
                    ] + more.schemas)), orAs: ["text/csv", "application/x-ndjson"])
    }

    /// Answers a request.
    func answer(_ request: AdminRequest, _ handlers: AdminHandlers) async throws -> APIAnswer {
        let format = request.query["format"].flatMap { Format(rawValue: $0) } ?? .json
        var cursor: ListCursor?
        if let text = request.query["after"] {
            guard let read = ListCursor(text, parts: cursorParts), takes(read) else {
                throw APIProblem(.invalidRequest, "after takes what a page before gave as next")
            }
            cursor = read
        }
        let opening = try await Opening(request, isExport: format != .json, of: subject, handlers)
        guard format != .json else {
            let page = try await read(opening, cursor, request.query["limit"].flatMap { Int($0) } ?? Self.page)
            try await opening.note(page.elements.reduce(0) { $0 + openedTexts($1) })
            return APIAnswer(
                .ok,
                .object(
                    [
                        .init(name, shape.values(of: page.elements)), .init("next", .text(page.next?.description)),
                        .init("lookedThrough", page.lookedThrough.map { JSONValue.integer(Int64($0)) } ?? .null),
                    ] + (try await more.members())))
        }
        let slot = try handlers.exports.slot(of: try handlers.member(request).actor)
        // The first portion is read before the answer begins, so that what cannot be read is answered as a problem.
        let first = try await read(opening, cursor, Self.portion)
        try await opening.note(first.elements.reduce(0) { $0 + openedTexts($1) })
        let type = format == .csv ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson"
        return APIAnswer(
            contentType: type,
            headers: [.contentDisposition: #"attachment; filename="\#(name).\#(format.rawValue)""#]
        ) { write in
            if format == .csv { try await write(Array((shape.csv(of: []) + "\n").utf8)) }
            var page = first
            while true {
                if !page.elements.isEmpty { try await write(lines(of: page.elements, format)) }
                guard let next = page.next else { break }
                page = try await read(opening, next, Self.portion)
                try await opening.note(page.elements.reduce(0) { $0 + openedTexts($1) })
            }
            withExtendedLifetime(slot) {}
        }
    }

    private func lines(of rows: [Row], _ format: Format) -> [UInt8] {
        switch format {
        case .csv: Array((shape.csv(of: rows, isBegun: true) + "\n").utf8)
        case .json, .ndjson: rows.flatMap { shape.value(of: $0).bytes + [UInt8(ascii: "\n")] }
        }
    }
}
