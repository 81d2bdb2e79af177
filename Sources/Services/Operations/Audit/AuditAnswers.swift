package import AuditStore
package import Base

extension CommandAnswer {
    /// Rows of the audit, a page or several.
    package init(_ page: ListPage<ShownAuditRow>) {
        let shape = CommandShape<ShownAuditRow>.audit
        let nothing =
            page.next == nil ? "nothing is on record" : "nothing was found in the rows that were read"
        let table = page.elements.isEmpty ? nothing : shape.table(of: page.elements)
        var members = [JSONValue.Member("rows", shape.values(of: page.elements))]
        if let next = page.next { members.append(.init("next", next.description.json)) }
        self.init(
            .object(members), text: table + (page.next.map { "\n\nthe list goes on: --after \($0)" } ?? ""),
            csv: shape.csv(of: page.elements))
    }

    /// What became of holding the audit against itself.
    package init(_ found: AuditVerification) {
        let erased = found.erased.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        var lines = [
            found.fault.map { "the audit is not what was written: \($0)" }
                ?? (found.last.place == 0
                    ? "the audit has no row"
                    : "all \(found.last.place) rows are what was written, each after the one before")
        ]
        if found.fault != nil, found.last.place > 0 {
            lines.append("rows 1 to \(found.last.place) are as they were written")
        }
        if let export = found.export, found.fault == nil {
            lines.append("rows 1 to \(export.place) are as they were exported")
        }
        if found.erasedCount > 0 {
            let more = found.erasedCount > found.erased.reduce(0) { $0 + Int64($1.count) } ? ", …" : ""
            lines.append(
                "an erasure took the texts of \(found.erasedCount): rows \(erased.joined(separator: ", "))\(more)")
        }
        let members: [JSONValue.Member] = [
            .init("valid", .bool(found.fault == nil)), .init("rows", .integer(found.last.place)),
            .init("hash", .string(found.last.hexHash)),
            .init("fault", .text(found.fault?.code)), .init("place", found.fault.map { .integer($0.place) } ?? .null),
            .init("message", .text(found.fault?.description)), .init("erased_count", .integer(found.erasedCount)),
            .init("erased", .array(erased.map { .string($0) })),
            .init("exported", found.export.map { .integer($0.place) } ?? .null),
        ]
        self.init(.object(members.filter { $0.value != .null }), text: lines.joined(separator: "\n"))
    }
}
