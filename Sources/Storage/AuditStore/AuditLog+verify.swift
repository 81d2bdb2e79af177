import Postgres

extension AuditLog {
    /// Holds every row against the one before and against its text, in bounded memory, and the last one against the place where rows are
    /// appended. It stops at the first that is wrong. Rows that are appended meanwhile are left out.
    /// - Parameter exported: gives the rows of an export, one after the other, and nil at its end; nil where there is no export.
    /// - Throws: `PostgresError`, and what reading the export throws.
    package func verify(against exported: (() throws -> AuditMark?)? = nil) async throws -> AuditVerification {
        try await verify(AuditChain(), through: try await tail(), against: exported)
    }

    /// Verifies the last rows alone: earlier ones are taken as they are.
    package func verify(last count: Int64) async throws -> AuditVerification {
        let tail = try await tail()
        let first = max(0, tail.place - count)
        guard first > 0 else { return try await verify(AuditChain(), through: tail, against: nil) }
        guard let before = try await rows(after: first - 1, through: first).first else {
            return AuditVerification(
                AuditChain(after: AuditMark(place: first - 1, hash: [])), fault: .missing(first, through: first))
        }
        return try await verify(
            AuditChain(after: AuditMark(place: first, hash: before.hash)), through: tail, against: nil)
    }

    private func verify(
        _ start: AuditChain, through tail: AuditMark, against exported: (() throws -> AuditMark?)?
    ) async throws -> AuditVerification {
        var chain = start
        var export: AuditMark?
        // Whether the export has further rows.
        var isPastExport = exported == nil
        while true {
            let rows = try await rows(after: chain.last.place, through: tail.place)
            for row in rows {
                if !isPastExport, let exported {
                    if let mark = try exported() {
                        export = mark
                        if mark != AuditMark(place: row.place, hash: row.hash), row.place == chain.last.place + 1 {
                            let own = await fault(of: row, in: chain)
                            return AuditVerification(chain, fault: own ?? .exportedOtherwise(row.place), export: mark)
                        }
                    } else {
                        isPastExport = true
                    }
                }
                do throws(AuditFault) { try chain.add(row) } catch {
                    return AuditVerification(chain, fault: await explained(error, row), export: export)
                }
            }
            if rows.isEmpty { break }
        }
        if !isPastExport, let exported {
            while let mark = try exported() { export = mark }
            if let export, export.place > chain.last.place {
                return AuditVerification(
                    chain, fault: .cut(after: chain.last.place, through: export.place), export: export)
            }
        }
        return AuditVerification(chain, fault: try await faultAtEnd(of: chain, tail), export: export)
    }

    /// Where rows are appended has to be behind the last row.
    private func faultAtEnd(of chain: AuditChain, _ tail: AuditMark) async throws -> AuditFault? {
        if chain.last.place < tail.place { return .cut(after: chain.last.place, through: tail.place) }
        if chain.last.hash != tail.hash { return .replaced(tail.place) }
        return try await pool.query(
            PostgresQuery(
                "audit.beyond",
                """
                select a.place from storehook.audit a
                 where a.place > (select place from storehook.audit_tail) order by a.place limit 1
                """)
        ).first.map { .added(try $0.decode(0)) }
    }

    private func fault(of row: AuditRow, in chain: AuditChain) async -> AuditFault? {
        var copy = chain
        do throws(AuditFault) { try copy.add(row) } catch { return await explained(error, row) }
        return nil
    }

    /// A row that was written in another place names the row that stood before that one; where that one is gone too, the place is looked
    /// for among those that follow.
    private func explained(_ fault: AuditFault, _ row: AuditRow) async -> AuditFault {
        guard case .changed(let place) = fault else { return fault }
        let before = try? await pool.query(
            PostgresQuery("audit.written", "select place from storehook.audit where hash = \(row.previous) limit 1")
        ).first?.decode(0, as: Int64.self)
        let places = [(before ?? 0) + 1] + (place + 1...place + Self.mostMoved)
        guard let written = places.first(where: { $0 != place && row.computedHash(at: $0) == row.hash }) else {
            return fault
        }
        return .reordered(place, writtenAt: written)
    }

    /// The number of places that are searched for a row after its predecessor is gone.
    private static let mostMoved: Int64 = 1000
}
