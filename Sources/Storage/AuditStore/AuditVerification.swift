/// What became of holding the audit against itself, and against an export.
package struct AuditVerification: Sendable, Hashable {
    /// The first thing that is wrong; nil where nothing is.
    package var fault: AuditFault?
    /// How many rows were held against each other until then.
    package var count: Int64
    /// The last row that fits.
    package var last: AuditMark
    /// The places of the rows with an erased text, as ranges; some of them where there are very many.
    package var erased: [ClosedRange<Int64>]
    /// How many these are.
    package var erasedCount: Int64
    /// The end of the export that it was held against.
    package var export: AuditMark?

    init(_ chain: AuditChain, fault: AuditFault? = nil, export: AuditMark? = nil) {
        self.fault = fault
        count = chain.count
        last = chain.last
        erased = chain.erased
        erasedCount = chain.erasedCount
        self.export = export
    }
}
