extension FiscalCalendar {
    /// The calendar that counts until the operator applies one.
    package static let standard: FiscalCalendar = {
        // A test reads the text below.
        do { return try FiscalCalendar(yaml: standardText) } catch { return FiscalCalendar(years: []) }
    }()

    /// ``standard``, as a file.
    package static let standardText = """
        # Apple's fiscal years. The first days follow from the ends that its annual reports state (forms 10-K, "Fiscal year end"):
        # a year of 52 or 53 weeks ends on the last Saturday of September, and a 53rd week is added to the first quarter, as in 2017
        # and 2023. In these it is the fifth week of December, the quarter's last month. Apple publishes each year's months in
        # App Store Connect, under Payments and Financial Reports: add a year once they are there.
        years:
          - {year: 2017, from: 2016-09-25, weeks: [5, 4, 5, 5, 4, 4, 5, 4, 4, 5, 4, 4]}
          - {year: 2018, from: 2017-10-01}
          - {year: 2019, from: 2018-09-30}
          - {year: 2020, from: 2019-09-29}
          - {year: 2021, from: 2020-09-27}
          - {year: 2022, from: 2021-09-26}
          - {year: 2023, from: 2022-09-25, weeks: [5, 4, 5, 5, 4, 4, 5, 4, 4, 5, 4, 4]}
          - {year: 2024, from: 2023-10-01}
          - {year: 2025, from: 2024-09-29}
          - {year: 2026, from: 2025-09-28}
          - {year: 2027, from: 2026-09-27}

        """
}
