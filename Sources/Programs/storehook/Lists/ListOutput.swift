import ArgumentParser
import Base
import Operations

/// The format of a list that is read in pages.
struct ListOutput: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, csv
    }

    @Option(help: "table, json or csv; table on a terminal, json elsewhere.") var format: Format?

    /// Prints an answer. CSV has no place for the cursor, which goes to standard error.
    func print(_ answer: CommandAnswer, next: ListCursor?) {
        switch format ?? (StandardOutput.isTerminal ? .table : .json) {
        case .table: StandardOutput.line(answer.text)
        case .json: StandardOutput.line(answer.json.text)
        case .csv:
            StandardOutput.line(answer.csv ?? answer.text)
            if let next { StandardError.line("storehook: the list goes on: --after \(next)") }
        }
    }
}

/// How far a list that is read in pages is read.
struct PageOptions: ParsableArguments {
    @Option(help: "Those after this place: the next of the page before.") var after: String?
    @OptionGroup var list: ListLimit
    @Flag(help: "Read one page after the other, until the limit is reached or the list ends.") var all = false

    /// - Parameter parts: of the list's cursor.
    func cursor(parts: Int) throws -> ListCursor? {
        try after.map { text in
            guard let cursor = ListCursor(text, parts: parts) else {
                throw ValidationError("--after takes what a page before gave as next")
            }
            return cursor
        }
    }

    /// Reads a page, or with `--all` as many as it takes.
    func read<Element>(
        after cursor: ListCursor?, _ page: (_ after: ListCursor?, _ limit: Int) async throws -> ListPage<Element>
    ) async throws -> ListPage<Element> {
        var read = try await page(cursor, list.limit)
        while all, let next = read.next, read.elements.count < list.limit {
            let more = try await page(next, list.limit - read.elements.count)
            read = ListPage(read.elements + more.elements, next: more.next, lookedThrough: more.lookedThrough)
        }
        return read
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// Reads a word of a list.
    static func word(_ text: String) throws -> Self {
        guard let value = Self(rawValue: text) else {
            throw ValidationError("it is one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }
}
