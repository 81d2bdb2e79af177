import CZlib
import Figures
import Testing

/// Reports as Apple's pages describe them.
enum ReportFixture {
    /// The columns of a Summary Sales Report, version 1_3.
    ///
    /// https://developer.apple.com/help/app-store-connect/reference/summary-sales-report
    static let salesColumns = [
        "Provider", "Provider Country", "SKU", "Developer", "Title", "Version", "Product Type Identifier", "Units",
        "Developer Proceeds", "Begin Date", "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
        "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier", "Subscription", "Period", "Category",
        "CMB", "Device", "Supported Platforms", "Proceeds Reason", "Preserved Pricing", "Client", "Order Type",
    ]

    /// The columns of a Financial Report of all countries or regions.
    ///
    /// https://developer.apple.com/help/app-store-connect/reference/financial-report-fields
    static let financialColumns = [
        "Start Date", "End Date", "UPC", "ISRC / ISBN", "Vendor Identifier", "Quantity", "Partner Share",
        "Extended Partner Share", "Partner Share Currency", "Sale or Return", "Apple Identifier",
        "Artist / Show / Developer / Author", "Title", "Label / Studio / Network / Developer / Publisher", "Grid",
        "Product Type Identifier", "ISAN / Other Identifier", "Country of Sale", "Pre-order Flag", "Promo Code",
        "Customer Price", "Customer Currency",
    ]

    /// The columns of a detailed Financial Report: the same page, and below its dates.
    static let detailedColumns = [
        "Transaction Date", "Settlement Date", "Apple Identifier", "SKU", "Title", "Developer Name",
        "Product Type Identifier", "Country of Sale", "Quantity", "Partner Share", "Extended Partner Share",
        "Partner Share Currency", "Customer Price", "Customer Currency", "Sale or Return", "Promo Code", "Order Type",
        "Region",
    ]

    /// A report of rows by the names of their columns; what a row does not name is a blank, as Apple writes it.
    static func text(_ columns: [String], _ rows: [[String: String]], end: String = "\n") -> String {
        ([columns] + rows.map { row in columns.map { row[$0] ?? " " } })
            .map { $0.joined(separator: "\t") + end }.joined()
    }

    /// A row of a sales report of March 2026.
    static func sale(
        _ sku: String, _ type: String, units: String, price: String, _ currency: String, _ country: String
    ) -> [String: String] {
        [
            "Provider": "APPLE", "Provider Country": "US", "SKU": sku, "Developer": "Example", "Title": sku,
            "Product Type Identifier": type, "Units": units, "Developer Proceeds": "0.7", "Begin Date": "03/01/2026",
            "End Date": "03/31/2026", "Customer Currency": currency, "Country Code": country,
            "Currency of Proceeds": currency, "Apple Identifier": "1234567890", "Customer Price": price,
        ]
    }

    /// Compresses bytes with gzip.
    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        var stream = z_stream()
        try #require(
            deflateInit2_(
                &stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK)
        defer { deflateEnd(&stream) }
        var (source, target) = (bytes, [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 100))
        let status = source.withUnsafeMutableBufferPointer { source in
            target.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        try #require(status == Z_STREAM_END)
        return Array(target.prefix(Int(stream.total_out)))
    }

    /// The faults for which a file is refused; none where it is read.
    static func faults(_ file: String) -> [String] { faults(Array(file.utf8)) }

    /// The faults for which a file is refused; none where it is read.
    static func faults(_ file: [UInt8], atMost limit: Int = AppleReport.longest) -> [String] {
        do throws(ReportRefusal) {
            _ = try AppleReport(file, atMost: limit)
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }
}

extension ReportKey {
    /// One in a line.
    init(_ product: String, _ storefront: String, _ currency: String, _ price: Int64, _ kind: Kind = .sale) {
        self.init(productID: product, storefront: storefront, currency: currency, unitPrice: price, kind: kind)
    }
}
